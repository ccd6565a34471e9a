"""What a live page shows of intervals, worked out by hand."""

from plimsoll.record.live.live_run import LatestValue, LiveInterval
from plimsoll.web.live.live_feed import live_figures
from plimsoll.web.live.traffic_points import (
    MAX_POINTS,
    TrafficPoint,
    TrafficPoints,
    TrafficTotals,
    while_sending,
)

S = 10**9


def value(source: str, kind: str, number: float, **names: str) -> LatestValue:
    return LatestValue(source, kind, "", names, number, "mean")


def traffic(at: int, sent: float, lost: float, period: str = "trial-0001") -> LiveInterval:
    values = [
        value("trafficgen", "tx-pps", sent, tx_port="0"),
        value("trafficgen", "tx-pps", sent, tx_port="1"),
        value("trafficgen", "rx-pps", sent - lost, rx_port="1"),
        value("trafficgen", "lost-rx-pps", lost),
    ]
    return LiveInterval(period, at * S, (at + 1) * S, tuple(values))


def engine(at: int, *values: LatestValue) -> LiveInterval:
    return LiveInterval("trial-0001", at * S, (at + 1) * S, values)


def p99(number: float, stream: str) -> LatestValue:
    return value("trafficgen-engine", "p99-round-trip-usec", number, stream=stream)


def test_two_readers_make_one_point_of_both_directions() -> None:
    points = TrafficPoints(frozenset({"probe/0-1"}))
    points.take(traffic(100, 500, 1))
    stall = value("trafficgen-engine", "stall-usec", 40, lcore="3")
    points.take(engine(100, p99(9, "load/0-1"), p99(5, "probe/0-1"), stall))
    (point,) = points.points()
    assert (point.begin_s, point.end_s) == (0, 1)
    assert (point.tx_pps, point.rx_pps, point.lost_pps) == (1000, 499, 1)
    assert point.latency_us == {"p99": 5}
    assert point.stalled_us == 40


def test_without_probes_latency_is_the_worst_of_all_streams() -> None:
    points = TrafficPoints(frozenset())
    points.take(engine(0, p99(9, "load/0-1"), p99(5, "load/1-0")))
    assert points.points()[0].latency_us == {"p99": 9}


def test_a_new_trial_begins_anew_and_hosts_are_not_its_matter() -> None:
    points = TrafficPoints(frozenset())
    points.take(traffic(0, 500, 5))
    points.take(traffic(7, 100, 0, "trial-0002"))
    points.take(LiveInterval("trial-0001", 0, S, (value("mpstat", "Busy-CPU", 1),)))
    assert [(point.end_s, point.tx_pps) for point in points.points()] == [(1, 200)]
    assert points.period == "trial-0002"
    assert points.totals() == TrafficTotals(200, 0, None)


def test_of_a_long_trial_the_last_points_are_kept_and_all_are_counted() -> None:
    points = TrafficPoints(frozenset())
    for at in range(MAX_POINTS + 50):
        points.take(traffic(at, 500, 1))
    kept = points.points()
    assert len(kept) == MAX_POINTS
    assert kept[-1].end_s == MAX_POINTS + 50
    totals = points.totals()
    assert (totals.sent, totals.lost) == (1000.0 * 650, 650.0)
    figures = live_figures(kept[-1], totals)
    assert figures["sent"] == "1 kpps"
    assert figures["loss"] == "0.1 %"
    assert figures["p99"] == figures["stalled"] == "-"


def test_the_drain_is_no_rate() -> None:
    """Of 10.25 s of sending at 6 Mpps: the last interval ends with a drain, and another follows."""
    whole = [TrafficPoint(n, n + 1.0, 6e6, 6e6) for n in range(10)]
    last = TrafficPoint(10.0, 11.0, 1.5e6, 1.5e6, lost_pps=3.0)
    drain = TrafficPoint(11.0, 11.5, 0.0, 0.0)
    *before, cut = while_sending([*whole, last, drain], 10.25)
    assert before == whole
    assert (cut.tx_pps, cut.rx_pps, cut.lost_pps) == (6e6, 6e6, 3.0)
    assert live_figures(cut, TrafficTotals())["sent"] == "6 Mpps"


def test_an_idle_second_while_frames_are_to_be_sent_is_shown() -> None:
    points = [TrafficPoint(0.0, 1.0, 6e6, 6e6), TrafficPoint(1.0, 2.0, 0.0, 0.0)]
    assert while_sending(points, 10.0) == points
    assert while_sending(points, None) == points


def test_intervals_that_end_a_little_late_are_whole() -> None:
    points = [TrafficPoint(0.0, 1.004, 6e6, 6e6), TrafficPoint(1.004, 1.1, 10.0, 100.0)]
    assert while_sending(points, 1.0) == points[:1]
