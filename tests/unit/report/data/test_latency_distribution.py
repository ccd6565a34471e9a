"""Both ends of a stream's samples, out of what the log has of each tag."""

from hdrh.histogram import HdrHistogram

from plimsoll.generator.histogram import Histogram, empty_hdr, fill_hdr, histogram_of
from plimsoll.record.metrics.histogram_log import stream_tag
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.report.data.latency_distribution import LatencyDistribution, of_ends
from tests.unit.record.trial_parts import FOUR, PROBE
from tests.unit.record.trial_parts import counts as counts_of
from tests.worded.says import Says

STREAM = StreamRecord.of(PROBE, counts_of(1), 0)


def _hdr(histogram: Histogram) -> HdrHistogram:
    hdr = empty_hdr()
    fill_hdr(hdr, histogram)
    return hdr


def _merged(**parts: Histogram) -> dict[str, HdrHistogram]:
    kinds = {"latency": "latency", "across": "across-stalls", "less": "less-stalls"}
    return {
        stream_tag(STREAM.name, STREAM.tx_port, STREAM.rx_port, kinds[name]): _hdr(part)  # type: ignore[arg-type]
        for name, part in parts.items()
    }


def _of(**parts: Histogram) -> LatencyDistribution:
    found = LatencyDistribution.of(STREAM, _merged(**parts))
    assert found is not None
    return found


def test_without_stalls_there_is_one_line() -> None:
    found = _of(latency=FOUR)
    assert list(found.lines) == ["probe/0-1 (latency)"]
    assert found.lines["probe/0-1 (latency)"].get_total_count() == 4
    assert of_ends([found]) == ""
    assert LatencyDistribution.of(STREAM, {}) is None


def test_delayed_samples_are_in_a_line_for_each_end(says: Says) -> None:
    found = _of(
        latency=FOUR, across=histogram_of({240: 1, 255: 2}), less=histogram_of({20: 1, 30: 1})
    )
    low, high = found.lines.values()
    assert list(found.lines) == ["probe/0-1 (latency), at least", "probe/0-1 (latency), at most"]
    assert low.get_total_count() == high.get_total_count() == 7
    # One whose stalls are forgotten has 0 as its low end.
    assert (low.get_count_at_value(0), low.get_count_at_value(20)) == (1, 1)
    assert (high.get_max_value(), high.get_count_at_value(255)) == (255, 2)
    assert found.histogram.get_total_count() == 4
    assert of_ends([found]) == says()


def test_all_samples_may_be_delayed() -> None:
    found = _of(across=histogram_of({240: 3}))
    assert [each.get_total_count() for each in found.lines.values()] == [3, 3]
    assert found.histogram.get_total_count() == 0
