"""One simulated trial from its first frame to the end of its drain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plimsoll.generator.interface import (
    EndedBy,
    Interval,
    PortCounts,
    TrialPlan,
    TrialReport,
    TrialStage,
)
from plimsoll.generator.simulated.path_run import PathRun, PathSpan
from plimsoll.generator.simulated.polling_loop import LoopRun
from plimsoll.search.simulated.away_times import Away

# Intervals end at whole multiples of their length; a rest shorter than this is rounding.
_SHORTEST_S = 1e-9


class TrialRun:
    """Runs the paths of one trial, interval by interval.

    It began at `began_s` of simulated time. `loops` poll the port of their number;
    `stale` frames of an earlier trial come in on their port, at the start.
    """

    def __init__(
        self,
        plan: TrialPlan,
        paths: dict[tuple[int, int], PathRun],
        loops: Sequence[LoopRun],
        stale: Sequence[int],
        *,
        began_s: float,
        begin_unix_ns: int,
    ) -> None:
        self._plan = plan
        self._paths = paths
        self._loops = loops
        self._stale = list(stale)
        self._stale_seen = [0] * len(self._stale)
        self._began_s = began_s
        self._begin_unix_ns = begin_unix_ns
        self._index = 0
        self.ended_s = 0.0

    def run(self, watch: Callable[[Interval], bool]) -> TrialReport:
        """Send, drain, and report; `watch` ends the sending with True."""
        ended_by = self._send(watch)
        sending_s = self.ended_s
        drained_s = sending_s + self._plan.drain_s
        while self.ended_s < drained_s - _SHORTEST_S:
            watch(self._interval("drain", min(self._next_edge_s(), drained_s)))
        return TrialReport(
            ended_by=ended_by,
            sending_s=sending_s,
            begin_unix_ns=self._begin_unix_ns,
            streams=tuple(
                sorted(
                    (each.total() for path in self._paths.values() for each in path.streams),
                    key=lambda counts: counts.stream,
                )
            ),
            ports=tuple(_port(port, stale) for port, stale in enumerate(self._stale_seen)),
            workers=tuple(loop.total() for loop in self._loops),
        )

    def _send(self, watch: Callable[[Interval], bool]) -> EndedBy:
        duration_s = self._plan.duration_s
        while self.ended_s < duration_s - _SHORTEST_S:
            if watch(self._interval("send", min(self._next_edge_s(), duration_s))):
                return "stop" if self.ended_s < duration_s - _SHORTEST_S else "duration"
        return "duration"

    def _next_edge_s(self) -> float:
        return (int(self.ended_s / self._plan.interval_s + 1e-9) + 1) * self._plan.interval_s

    def _interval(self, phase: TrialStage, end_s: float) -> Interval:
        begin_s, index = self.ended_s, self._index
        self.ended_s, self._index = end_s, index + 1
        away = [self._away(loop, begin_s, end_s) for loop in self._loops]
        streams = []
        for (tx_port, rx_port), path in self._paths.items():
            span = PathSpan(
                self._began_s, begin_s, end_s, phase == "send", away[tx_port], away[rx_port]
            )
            streams += path.interval(span)
        streams.sort(key=lambda counts: counts.stream)
        return Interval(
            index,
            phase,
            begin_s,
            end_s,
            self._begin_unix_ns + round(end_s * 1e9),
            tuple(streams),
            tuple(self._ports()),
            tuple(
                loop.interval(
                    end_s - begin_s,
                    phase == "send",
                    [each for each in times if begin_s < each.end_s <= end_s],
                )
                for loop, times in zip(self._loops, away, strict=True)
            ),
        )

    def _away(self, loop: LoopRun, begin_s: float, end_s: float) -> list[Away]:
        """In s of the trial."""
        began_s = self._began_s
        return [
            Away(max(0.0, each.begin_s - began_s), each.end_s - began_s)
            for each in loop.loop.away_within(began_s + begin_s, began_s + end_s)
        ]

    def _ports(self) -> list[PortCounts]:
        ports = [_port(port, stale) for port, stale in enumerate(self._stale)]
        for port, stale in enumerate(self._stale):
            self._stale_seen[port] += stale
            self._stale[port] = 0
        return ports


def _port(port: int, stale: int) -> PortCounts:
    return PortCounts(port, 0, {}, stale, 0, 0, 0, 0, link_up=True)
