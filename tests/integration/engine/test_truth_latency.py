"""Latency histograms against a DUT that knows how long it held each frame.

Nothing here depends on how fast the machine is: no frame can come back before the DUT let
it go, so each of the engine's figures has a floor, and the counts are exact. How near to
the floor they are is a benchmark's matter (engine/bench/contests/accuracy.py).
"""

from collections.abc import Iterator, Sequence

import pytest

from plimsoll.generator.histogram import bucket_bounds_ns
from tests.integration.engine.delay_dut import Sent, path
from tests.integration.engine.histograms import Histogram, check_against_hdr, merged
from tests.integration.engine.requests import stream
from tests.integration.engine.session import Message
from tests.integration.engine.truth_bed import TruthBed, arrived, truth_bed

MICROSECOND_NS, MILLISECOND_NS = 1000, 1_000_000
# A millisecond and more are counted together.
LAST_MICROSECOND = 1000


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TruthBed]:
    with truth_bed(tmp_path_factory.mktemp("truth")) as bed:
        yield bed


def latencies(counts: Message) -> Histogram:
    """All of them, whether a stall of the tester touched them or not."""
    return merged([counts["latency"], counts["latency_across_stalls"]])


def assert_never_less_than_held(counts: Message, frames: Sequence[Sent]) -> None:
    """The engine's k-th shortest latency is no shorter than the DUT's k-th shortest hold."""
    histogram = latencies(counts)
    holds = [frame.hold_ns for frame in frames]
    check_against_hdr(histogram)
    assert histogram["count"] == len(holds)
    assert histogram["min_ns"] >= min(holds)
    assert histogram["max_ns"] >= max(holds)
    assert histogram["sum_ns"] >= sum(holds)
    recorded = 0
    for index, count in histogram["buckets"]:
        recorded += count
        highest = bucket_bounds_ns(index)[1]
        assert recorded <= sum(hold <= highest for hold in holds)


def test_engine_and_dut_agree_on_the_clock(bed: TruthBed) -> None:
    """Each goes by the kernel; DPDK's own figure, rounded to 10 MHz, can be 2 in 1000 off."""
    engine_hz, dut_hz = bed.tsc_rates_hz()
    assert engine_hz == pytest.approx(dut_hz, rel=1e-4)


@pytest.mark.parametrize("hold_us", [0, 10, 100, 1000, 20_000])
def test_a_fixed_hold(bed: TruthBed, hold_us: int) -> None:
    hold = [hold_us * MICROSECOND_NS] * 2
    requests = [
        stream(number, 5000, role=role, rx_port=1)
        for number, role in enumerate(("load", "latency"))
    ]
    truth = bed.run(*requests, paths=[path(0, 1, hold_ns=hold)], duration_s=0.2)
    for request in requests:
        frames = arrived(truth.report.of(request["stream"]), 1)
        assert len(frames) == 1000
        assert_never_less_than_held(truth.counts(request["stream"]), frames)


@pytest.mark.parametrize("keep_order", [True, False])
def test_holds_spread_over_three_decades(bed: TruthBed, keep_order: bool) -> None:
    spread = path(0, 1, hold_ns=[20 * MICROSECOND_NS, 20 * MILLISECOND_NS], keep_order=keep_order)
    request = stream(3, 5000, role="latency", rx_port=1)
    truth = bed.run(request, paths=[spread], duration_s=0.2)
    assert_never_less_than_held(truth.counts(3), arrived(truth.report.of(3), 1))


def test_each_stream_and_direction_has_its_own(bed: TruthBed) -> None:
    requests = [
        stream(0, 3000, rx_port=1),
        stream(1, 1000, role="latency", rx_port=1),
        stream(2, 1000, role="latency", tx_port=1, rx_port=0),
    ]
    holds = {1: [MILLISECOND_NS] * 2, 0: [30 * MILLISECOND_NS] * 2}
    paths = [path(0, 1, hold_ns=holds[1]), path(1, 0, hold_ns=holds[0])]
    truth = bed.run(*requests, paths=paths, duration_s=0.2)
    for request in requests:
        frames = arrived(truth.report.of(request["stream"]), request["rx_port"])
        assert_never_less_than_held(truth.counts(request["stream"]), frames)


def test_doubled_frames_are_timed_too_and_lost_ones_are_not(bed: TruthBed) -> None:
    wrongs = [{"do": "duplicate", "every": 4}, {"do": "drop", "every": 10}]
    hold = [MILLISECOND_NS, 3 * MILLISECOND_NS]
    request = stream(0, 5000, role="latency", rx_port=1)
    truth = bed.run(request, paths=[path(0, 1, hold_ns=hold, wrongs=wrongs)], duration_s=0.2)
    frames = arrived(truth.report.of(0), 1)
    # Frames 19, 39, … are to be doubled and dropped, and so are dropped.
    assert len(frames) == 1000 + 250 - 50 - 100
    assert_never_less_than_held(truth.counts(0), frames)


def test_whole_microseconds(bed: TruthBed) -> None:
    """The counts by microsecond are those of the histogram without stalls."""
    spread = path(0, 1, hold_ns=[50 * MICROSECOND_NS, 2 * MILLISECOND_NS], keep_order=False)
    request = stream(0, 5000, role="latency", rx_port=1)
    truth = bed.run(request, paths=[spread], duration_s=0.2)
    counts = truth.counts(0)
    by_microsecond, histogram = counts["latency_us"], counts["latency"]
    assert sum(count for _, count in by_microsecond) == histogram["count"] > 0
    assert [us for us, _ in by_microsecond] == sorted({us for us, _ in by_microsecond})
    assert by_microsecond[0][0] == min(histogram["min_ns"] // 1000, LAST_MICROSECOND)
    assert by_microsecond[-1][0] == min(histogram["max_ns"] // 1000, LAST_MICROSECOND)
    holds = [frame.hold_ns // 1000 for frame in truth.report.of(0)]
    seen = 0
    for us, count in by_microsecond:
        seen += count
        assert seen <= sum(hold <= us for hold in holds) or us == LAST_MICROSECOND


def test_load_streams_are_not_counted_by_microsecond(bed: TruthBed) -> None:
    truth = bed.run(stream(0, 1000, rx_port=1), paths=[path(0, 1)])
    assert truth.counts(0).get("latency_us", []) == []
