"""The traffic of the trial that goes on, interval by interval: rate, loss, latency, stalls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from plimsoll.record.live.live_run import LatestValue, LiveInterval

_NS_PER_S = 1e9
_TRAFFIC, _ENGINE = "trafficgen", "trafficgen-engine"
_LATENCY = "-round-trip-usec"
_QUANTILES = ("p50", "p99", "p99.9", "max")
# Intervals begin and end this much off: what is shorter is no interval of sending.
_JITTER_S = 0.02
# Of a trial of hours a page shows the last ten minutes.
MAX_POINTS = 600


@dataclass(slots=True)
class TrafficPoint:
    """One interval. Rates are over both directions; None is what was not measured.

    Times are in s since the first interval of the trial began; `latency_us` has p50, p99,
    p99.9 and max of the worst direction, `stalled_us` the time that the tester's polling loops
    were away.
    """

    begin_s: float
    end_s: float
    tx_pps: float | None = None
    rx_pps: float | None = None
    lost_pps: float | None = None
    stalled_us: float | None = None
    latency_us: dict[str, float] | None = None


@dataclass(frozen=True, slots=True)
class TrafficTotals:
    """Of the trial so far: frames sent and lost, and for how long the tester was stalled."""

    sent: float = 0.0
    lost: float = 0.0
    stalled_us: float | None = None

    def plus(self, point: TrafficPoint) -> TrafficTotals:
        """With one interval more."""
        length_s = point.end_s - point.begin_s
        stalled_us = self.stalled_us
        if point.stalled_us is not None:
            stalled_us = (stalled_us or 0.0) + point.stalled_us
        return TrafficTotals(
            self.sent + (point.tx_pps or 0.0) * length_s,
            self.lost + (point.lost_pps or 0.0) * length_s,
            stalled_us,
        )


def while_sending(points: Sequence[TrafficPoint], sending_s: float | None) -> list[TrafficPoint]:
    """Those in which frames were sent: the drain after `sending_s` is no rate.

    An interval in which sending ended has its rates over the part in which frames were sent.
    Without a known `sending_s` all.
    """
    if sending_s is None:
        return list(points)
    sent_in = [point for point in points if point.begin_s < sending_s - _JITTER_S]
    return [
        point if point.end_s <= sending_s + _JITTER_S else _over(point, sending_s - point.begin_s)
        for point in sent_in
    ]


def _over(point: TrafficPoint, sending_s: float) -> TrafficPoint:
    factor = (point.end_s - point.begin_s) / sending_s
    return replace(
        point,
        tx_pps=None if point.tx_pps is None else point.tx_pps * factor,
        rx_pps=None if point.rx_pps is None else point.rx_pps * factor,
    )


class TrafficPoints:
    """Gathers the intervals of one trial after the other; those of a new one replace the old.

    `probes` are the names of the latency streams; without any, latency is that of all streams.
    """

    def __init__(self, probes: frozenset[str]) -> None:
        self._probes = probes
        self._begin_ns = 0
        self._by_end: dict[int, TrafficPoint] = {}
        # Of the points that are not kept any more.
        self._past = TrafficTotals()
        self.period = ""

    def take(self, interval: LiveInterval) -> None:
        """Add what one reader found; of other readers than the generator nothing is kept."""
        values = [each for each in interval.values if each.source in (_TRAFFIC, _ENGINE)]
        if not values:
            return
        if interval.period != self.period:
            self.period, self._by_end, self._begin_ns = interval.period, {}, interval.begin_ns
            self._past = TrafficTotals()
        point = self._by_end.get(interval.end_ns)
        if point is None:
            point = self._by_end[interval.end_ns] = TrafficPoint(
                (interval.begin_ns - self._begin_ns) / _NS_PER_S,
                (interval.end_ns - self._begin_ns) / _NS_PER_S,
            )
            self._forget()
        if values[0].source == _TRAFFIC:
            point.tx_pps = _together(values, "tx-pps", sum)
            point.rx_pps = _together(values, "rx-pps", sum)
            point.lost_pps = _together(values, "lost-rx-pps", sum)
        else:
            point.stalled_us = _together(values, "stall-usec", sum)
            point.latency_us = self._latency(values)

    def points(self) -> list[TrafficPoint]:
        """The last ones, by time."""
        return [point for _, point in sorted(self._by_end.items())]

    def totals(self) -> TrafficTotals:
        """Of all points, those that are not kept any more as well."""
        totals = self._past
        for point in self._by_end.values():
            totals = totals.plus(point)
        return totals

    def _forget(self) -> None:
        if len(self._by_end) > MAX_POINTS:
            self._past = self._past.plus(self._by_end.pop(min(self._by_end)))

    def _latency(self, values: list[LatestValue]) -> dict[str, float] | None:
        probed = [each for each in values if each.names.get("stream") in self._probes]
        of = probed or values
        known = {name: _together(of, name + _LATENCY, max) for name in _QUANTILES}
        return {name: value for name, value in known.items() if value is not None} or None


def _together(
    values: Iterable[LatestValue], kind: str, draw: Callable[[Iterable[float]], float]
) -> float | None:
    found = [each.value for each in values if each.type == kind]
    return float(draw(found)) if found else None
