import pytest

from plimsoll.generator.interface import Interval, Stall
from plimsoll.record.metric_row import MetricRow, interval_rows
from tests.unit.record.trial_parts import BEGIN_NS, FOUR, PLANS, counts, interval


def rows(of: Interval, *, refused_is_lost: bool = False) -> list[MetricRow]:
    return interval_rows("trial-0001", PLANS, of, refused_is_lost=refused_is_lost)


def value(found: list[MetricRow], metric_type: str, **names: str) -> float:
    matching = [
        row for row in found if row.type == metric_type and names.items() <= dict(row.names).items()
    ]
    assert len(matching) == 1
    return matching[0].value


# Half a second: 64 B load and 128 B probe from port 0, 64 B load back.
HALF = interval(
    (
        counts(0, sent=500, received=400, missing=90, refused=10),
        counts(1, sent=5, received=5, latency=FOUR, lateness=FOUR),
        counts(2, sent=300, received=300, duplicate=4, corrupt=2),
    ),
    begin_s=1.0,
    end_s=1.5,
    stalls=(Stall(1.2, 40_000),),
    stalled_ns=70_000,
)


def test_rates_of_a_direction_are_frames_of_all_its_streams_per_second() -> None:
    found = rows(HALF)
    assert value(found, "tx-pps", tx_port="0") == 1010.0
    assert value(found, "rx-pps", tx_port="0") == 810.0
    assert value(found, "rx-pps", tx_port="1") == 600.0


def test_bits_follow_from_frame_sizes() -> None:
    found = rows(HALF)
    # 400 frames of 64 B and 5 of 128 B in half a second; L1 adds 20 B, L2 leaves out 4 B.
    assert value(found, "l1-rx-bps", tx_port="0") == 2 * 8 * (400 * 84 + 5 * 148)
    assert value(found, "l2-rx-bps", tx_port="0") == 2 * 8 * (400 * 60 + 5 * 124)
    assert value(found, "l1-tx-bps", tx_port="1") == 2 * 8 * 300 * 84


def test_the_bits_of_the_seed_article() -> None:
    # Its table: 13360184.86 pps of 64 B are 8978044225.14 bps on L1 and 6412888732.24 on L2.
    found = rows(interval((counts(0, sent=1_336_018_486, received=1_336_018_486),), end_s=100.0))
    assert value(found, "l1-rx-bps", tx_port="0") == pytest.approx(8978044225.14, rel=1e-9)
    assert value(found, "l2-rx-bps", tx_port="0") == pytest.approx(6412888732.24, rel=1e-9)


def test_a_loss_of_zero_is_a_value() -> None:
    assert value(rows(HALF), "lost-rx-pps", tx_port="1") == 0.0


def test_refused_frames_are_lost_where_the_dut_drains_the_queue() -> None:
    assert value(rows(HALF), "lost-rx-pps", tx_port="0") == 180.0
    assert value(rows(HALF, refused_is_lost=True), "lost-rx-pps", tx_port="0") == 200.0


def test_round_trips_are_the_probes_in_microseconds() -> None:
    found = rows(HALF)
    assert value(found, "min-roundtrip-usec") == 0.1
    assert value(found, "mean-roundtrip-usec") == 0.1875
    assert value(found, "max-roundtrip-usec") == 0.25
    assert value(found, "p50-round-trip-usec", stream="probe/0-1") == 0.2
    assert value(found, "p99.9-round-trip-usec", stream="probe/0-1") == 0.25
    assert value(found, "tx-lateness-usec", stream="probe/0-1") == 0.25


def test_what_was_not_measured_is_absent() -> None:
    found = rows(HALF)
    assert not [r for r in found if r.type.endswith("roundtrip-usec") and r.names["tx_port"] == "1"]
    assert not [r for r in found if "round-trip" in r.type and r.names["stream"] == "load/1-0"]


def test_counts_and_stalls_of_the_engine() -> None:
    found = rows(HALF)
    assert value(found, "stream-tx-pps", stream="load/0-1") == 1000.0
    assert value(found, "stream-rx-pps", stream="load/1-0") == 600.0
    assert value(found, "duplicate-pps", stream="load/1-0") == 8.0
    assert value(found, "corrupt-pps", stream="load/1-0") == 4.0
    assert value(found, "out-of-order-pps", stream="load/1-0") == 6.0
    assert value(found, "stall-usec", lcore="5") == 70.0


def test_both_directions_share_crucibles_port_pair() -> None:
    pairs = {row.names["port_pair"] for row in rows(HALF) if row.source == "trafficgen"}
    assert pairs == {"0:1"}


def test_times_are_the_intervals_in_ms() -> None:
    begin_ms = BEGIN_NS // 10**6
    assert {(row.begin_ms, row.end_ms) for row in rows(HALF)} == {
        (begin_ms + 1000, begin_ms + 1500)
    }


def test_an_interval_without_length_has_no_rates() -> None:
    assert rows(interval((counts(0, sent=1),), begin_s=1.0, end_s=1.0)) == []
