from dataclasses import replace

import pytest

from plimsoll.generator.interface import Interval, Stall
from plimsoll.record.metrics.interval_samples import interval_samples
from plimsoll.record.samples.metric_type import MetricSample
from tests.unit.record.trial_parts import FOUR, LOAD, PLANS, PORT, counts, interval


def samples(of: Interval, *, refused_is_lost: bool = False) -> list[MetricSample]:
    return interval_samples(PLANS, of, refused_is_lost=refused_is_lost)


def matching(found: list[MetricSample], metric_type: str, **names: str) -> list[MetricSample]:
    return [
        sample
        for sample in found
        if sample.metric.type == metric_type and names.items() <= dict(sample.names).items()
    ]


def count(found: list[MetricSample], metric_type: str, **names: str) -> float:
    """What was counted in the interval, of a metric whose value is a rate."""
    (sample,) = matching(found, metric_type, **names)
    assert (sample.metric.counted, sample.metric.scale) == (True, 1.0)
    assert (sample.metric.unit, sample.metric.metric_class) == ("pps", "throughput")
    return sample.value


def value(found: list[MetricSample], metric_type: str, **names: str) -> float:
    (sample,) = matching(found, metric_type, **names)
    assert not sample.metric.counted
    return sample.value


# Half a second: 64 B load and 128 B probe from port 0, 64 B load back.
HALF = interval(
    (
        counts(0, sent=500, received=400, missing=90, refused=10, skipped=6, no_buffer=2),
        counts(1, sent=5, received=5, timed_out=1, latency=FOUR, lateness=FOUR),
        counts(2, sent=300, received=300, duplicate=4, corrupt=2),
    ),
    begin_s=1.0,
    end_s=1.5,
    stalls=(Stall(1.2, 1, 40_000),),
    stalled_ns=70_000,
    gaps=FOUR,
    ports=(PORT,),
)


def test_rates_of_a_direction_are_frames_of_all_its_streams_per_second() -> None:
    found = samples(HALF)
    assert count(found, "tx-pps", tx_port="0") == 505
    assert count(found, "rx-pps", tx_port="0") == 405
    assert count(found, "rx-pps", tx_port="1") == 300


def test_bits_follow_from_frame_sizes() -> None:
    found = samples(HALF)
    # 400 frames of 64 B and 5 of 128 B in half a second; L1 adds 20 B, L2 leaves out 4 B.
    assert value(found, "l1-rx-bps", tx_port="0") == 2 * 8 * (400 * 84 + 5 * 148)
    assert value(found, "l2-rx-bps", tx_port="0") == 2 * 8 * (400 * 60 + 5 * 124)
    assert value(found, "l1-tx-bps", tx_port="1") == 2 * 8 * 300 * 84


def test_the_bits_of_the_seed_article() -> None:
    # Its table: 13360184.86 pps of 64 B are 8978044225.14 bps on L1 and 6412888732.24 on L2.
    found = samples(interval((counts(0, sent=1_336_018_486, received=1_336_018_486),), end_s=100.0))
    assert value(found, "l1-rx-bps", tx_port="0") == pytest.approx(8978044225.14, rel=1e-9)
    assert value(found, "l2-rx-bps", tx_port="0") == pytest.approx(6412888732.24, rel=1e-9)


def test_bits_of_mixed_sizes_are_those_of_their_mean() -> None:
    # 7 of 64 B, 4 of 594 B and 1 of 1518 B are 361.83 B in the mean.
    frames = tuple(bytes(size - 4) for size in (64, 594, 1518))
    imix = replace(LOAD, frames=frames, order=(0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 2))
    sent = interval((counts(0, sent=1200, received=1200),))
    found = interval_samples((imix,), sent, refused_is_lost=False)
    total = 700 * 84 + 400 * 614 + 100 * 1538
    assert value(found, "l1-tx-bps", tx_port="0") == pytest.approx(total * 8)


def test_a_loss_of_zero_is_a_value() -> None:
    assert count(samples(HALF), "lost-rx-pps", tx_port="1") == 0


def test_refused_frames_are_lost_where_the_dut_drains_the_queue() -> None:
    assert count(samples(HALF), "lost-rx-pps", tx_port="0") == 90
    assert count(samples(HALF, refused_is_lost=True), "lost-rx-pps", tx_port="0") == 100


def test_round_trips_are_the_probes_in_microseconds() -> None:
    found = samples(HALF)
    assert value(found, "min-roundtrip-usec") == 0.1
    assert value(found, "mean-roundtrip-usec") == 0.1875
    assert value(found, "max-roundtrip-usec") == 0.25
    assert value(found, "p50-round-trip-usec", stream="probe/0-1") == 0.2
    assert value(found, "p99.9-round-trip-usec", stream="probe/0-1") == 0.25
    assert value(found, "tx-lateness-usec", stream="probe/0-1") == 0.25


def test_what_was_not_measured_is_absent() -> None:
    found = samples(HALF)
    for kind in ("min", "mean", "max"):
        assert matching(found, f"{kind}-roundtrip-usec", tx_port="0")
        assert not matching(found, f"{kind}-roundtrip-usec", tx_port="1")
        assert matching(found, f"{kind}-round-trip-usec", stream="probe/0-1")
        assert not matching(found, f"{kind}-round-trip-usec", stream="load/1-0")


def test_counts_and_stalls_of_the_engine() -> None:
    found = samples(HALF)
    assert count(found, "stream-tx-pps", stream="load/0-1") == 500
    assert count(found, "stream-rx-pps", stream="load/1-0") == 300
    assert count(found, "duplicate-pps", stream="load/1-0") == 4
    assert count(found, "corrupt-pps", stream="load/1-0") == 2
    assert count(found, "out-of-order-pps", stream="load/1-0") == 3
    assert count(found, "misdirected-pps", stream="load/1-0") == 0
    assert value(found, "stall-usec", lcore="5") == 70.0


def test_every_fault_of_the_tester_has_a_series() -> None:
    found = samples(HALF)
    assert count(found, "refused-pps", stream="load/0-1") == 10
    assert count(found, "late-pps", stream="load/0-1") == 6
    assert count(found, "no-buffer-pps", stream="load/0-1") == 2
    assert count(found, "timed-out-pps", stream="probe/0-1") == 1
    assert value(found, "p50-tx-lateness-usec", stream="probe/0-1") == 0.2
    assert value(found, "p99.9-tx-lateness-usec", stream="probe/0-1") == 0.25
    assert count(found, "foreign-pps", rx_port="0", kind="arp") == 3
    assert count(found, "foreign-pps", rx_port="0", kind="lldp") == 4
    assert count(found, "stale-pps", rx_port="0") == 2
    assert count(found, "rx-missed-pps", rx_port="0") == 3
    assert count(found, "rx-errors-pps", rx_port="0") == 4
    assert count(found, "rx-no-mbuf-pps", rx_port="0") == 5
    assert value(found, "buffers-in-use", rx_port="0") == 900.0
    assert value(found, "link-up", rx_port="0") == 1.0


def test_the_gaps_and_cycles_of_a_polling_loop() -> None:
    found = samples(HALF)
    assert value(found, "p50-gap-usec", lcore="5") == 0.2
    assert value(found, "max-gap-usec", lcore="5") == 0.25
    assert value(found, "build-cycles-per-frame", lcore="5") == 36.0
    assert value(found, "measure-cycles-per-frame", lcore="5") == 40.5
    assert not matching(found, "poll-cycles-per-frame")


def test_both_directions_share_crucibles_port_pair() -> None:
    own = [each for each in samples(HALF) if each.metric.source == "trafficgen"]
    assert {each.names["port_pair"] for each in own} == {"0:1"}
    assert {each.names["tx_port"] for each in own} == {"0", "1"}


def test_an_interval_without_length_has_no_rates() -> None:
    assert samples(interval((counts(0, sent=1),), begin_s=1.0, end_s=1.0)) == []
