"""What the windows of a probe come to, by hand and by the statistics module."""

import statistics
from dataclasses import replace

import pytest

from plimsoll.errors import InputError
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.histogram import Histogram, histogram_of
from plimsoll.generator.interface import StreamCounts
from plimsoll.methods.probe.charts import probe_buckets, probe_windows
from plimsoll.methods.probe.result import ProbedStream, ProbeSegment, ProbeWindow
from plimsoll.methods.probe.settings import ProbeSettings
from plimsoll.methods.probe.summary import delayed_us, lines_of, statistics_of
from plimsoll.methods.probe.windows import StreamSum
from plimsoll.record.trials.trial_record import Verdict
from tests.unit.record.trial_parts import counts
from tests.unit.report.test_charts import rows
from tests.worded.says import Says


def probed(values_ns: list[int], sent: int, timed_out: int = 0) -> ProbedStream:
    """Latencies below 256 ns, each of which has a bucket of its own."""
    assert all(value < 256 for value in values_ns)
    return ProbedStream(
        name="probe/0-1",
        sent=sent,
        received=len(values_ns),
        timed_out=timed_out,
        across_stalls=0,
        samples=len(values_ns),
        sum_ns=sum(values_ns),
        min_ns=min(values_ns),
        max_ns=max(values_ns),
        latency_us=((0, len(values_ns)),),
        buckets=tuple((value, values_ns.count(value)) for value in sorted(set(values_ns))),
    )


def window(index: int, stream: ProbedStream) -> ProbeWindow:
    begin_s = float(index)
    return ProbeWindow(
        trial=1,
        index=index,
        begin_s=begin_s,
        end_s=begin_s + 1,
        begin_unix_ns=index * 10**9,
        streams=(stream,),
    )


FIRST, SECOND = [100, 110, 120, 120], [90, 200]
WINDOWS = (window(0, probed(FIRST, sent=4)), window(1, probed(SECOND, sent=5, timed_out=3)))


def segment(verdict: Verdict) -> ProbeSegment:
    return ProbeSegment(
        trial=1, begin_unix_ns=0, sending_s=2.0, gap_s=0.0, verdict=verdict, reasons=()
    )


def test_the_probe_in_flight_at_a_kill_is_not_lost() -> None:
    # 4 and 2 of 4 and 5 came back; of the 3 that did not, one was never given up.
    cut = (WINDOWS[0], window(1, probed(SECOND, sent=5, timed_out=2)))
    assert statistics_of(cut, [segment("none")])[0].lost == 2
    assert statistics_of(cut, [segment("pass")])[0].lost == 3


def test_a_run_is_the_sum_of_its_windows() -> None:
    (found,) = statistics_of(WINDOWS, [segment("pass")])
    every = FIRST + SECOND
    assert (found.stream.samples, found.stream.timed_out, found.lost) == (6, 3, 3)
    assert found.loss_ratio == pytest.approx(3 / 9)
    assert (found.stream.min_ns, found.stream.max_ns) == (90, 200)
    assert found.mean_ns == pytest.approx(statistics.fmean(every))
    assert found.deviation_ns == pytest.approx(statistics.stdev(every))
    # The smallest value that half of the samples do not exceed.
    assert found.median_ns == 110
    assert found.stream.latency_us == ((0, 6),)


def test_each_window_has_a_line() -> None:
    first, second = lines_of(WINDOWS)
    assert (first.median_ns, first.max_ns, first.sent) == (110, 120, 4)
    assert (second.begin_unix_ns, second.timed_out, second.min_ns) == (10**9, 3, 90)


# Two that stalls may have delayed: as measured 250 and 255 ns, of which at most 200 and 5.
DELAYED = replace(
    counts(1, sent=3, received=3, latency=histogram_of({100: 1}), latency_us=((0, 1),)),
    latency_across_stalls=histogram_of({250: 1, 255: 1}),
    latency_less_stalls=histogram_of({50: 1, 250: 1}),
)


def summed(*given: StreamCounts) -> ProbedStream:
    sums = StreamSum("probe/0-1")
    for each in given:
        sums.add(each)
    return sums.record


def test_samples_that_stalls_may_have_delayed_count_with_both_ends() -> None:
    unknown = replace(DELAYED, latency_less_stalls=Histogram())
    windows = (window(0, summed(DELAYED)), window(1, summed(unknown)))
    (found,) = statistics_of(windows, [segment("pass")])
    low, high = found.ends
    assert (found.stream.across_stalls, found.stream.samples) == (4, 2)
    # 0, 0, 50, 100, 100, 250 and 100, 100, 250, 250, 255, 255.
    assert (low.samples, low.min_ns, low.median_ns, low.max_ns) == (6, 0, 50, 250)
    assert (high.samples, high.min_ns, high.median_ns, high.max_ns) == (6, 100, 250, 255)
    assert low.mean_ns == pytest.approx(500 / 6)
    assert high.mean_ns == pytest.approx(1210 / 6)
    assert delayed_us(found.stream) == ([(0, 4)], [(0, 4)])
    first, second = lines_of(windows)
    assert [end.max_ns for end in first.ends] == [250, 255]
    assert [end.max_ns for end in second.ends] == [100, 255]


def test_without_them_both_ends_are_the_same() -> None:
    windows = (window(0, summed(counts(1, sent=1, received=1, latency=histogram_of({90: 1})))),)
    (found,) = statistics_of(windows, [segment("pass")])
    assert (found.low, found.high) == (None, None)
    assert found.ends[0] == found.ends[1]
    assert found.ends[0].median_ns == 90


def test_charts_of_a_probe_show_both_ends(says: Says) -> None:
    windows = (window(0, summed(DELAYED)),)
    statistics = statistics_of(windows, [segment("pass")])
    chart = probe_windows(lines_of(windows), [segment("pass")])
    assert chart.caption == says("bar")
    assert [(row["low"], row["latency"]) for row in rows(chart)] == [(0.1, 0.25), (0.25, 0.255)]
    assert {row["stream"] for row in rows(probe_buckets(statistics))} == {
        "probe/0-1",
        "probe/0-1, delayed: at least",
        "probe/0-1, delayed: at most",
    }
    alone = (window(0, summed(replace(DELAYED, **WITHOUT))),)
    assert "a bar" not in probe_windows(lines_of(alone), [segment("pass")]).caption


WITHOUT = {"latency_across_stalls": Histogram(), "latency_less_stalls": Histogram()}


@pytest.mark.parametrize(("duration_s", "window_s"), [(10, 1), (600, 10), (8 * 3600, 60)])
def test_windows_are_a_sixtieth_of_the_run_between_a_second_and_a_minute(
    duration_s: float, window_s: float
) -> None:
    assert ProbeSettings(duration_s=duration_s).window_s == window_s


def test_a_probe_has_a_rate_in_frames(says: Says) -> None:
    with pytest.raises(InputError) as error:
        ProbeSettings(rate="10%").check(EngineSettings())
    assert error.value == says("rate", "10kpps")  # type: ignore[arg-type]
    assert error.value.where == "--rate"


def test_a_probe_has_a_rate_that_the_generator_sends(says: Says) -> None:
    with pytest.raises(InputError) as error:
        ProbeSettings(rate="2Gpps").check(EngineSettings())
    assert error.value == says("2000000000pps")  # type: ignore[arg-type]
    assert error.value.where == "--rate"
