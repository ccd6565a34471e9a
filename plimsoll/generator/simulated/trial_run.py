"""One simulated trial from its first frame to the end of its drain, and its polling loops.

The simulated tester's own polling loops: now and then one of them is away. While it is away it
sends nothing, and what comes back waits in its port's queue. The loop sees the gap itself, as the
engine's loops do, so the counts show it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from plimsoll.generator.interface import (
    CycleBudget,
    Cycles,
    EndedBy,
    Interval,
    PortCounts,
    Stall,
    TrialPlan,
    TrialReport,
    TrialStage,
    WorkerCounts,
)
from plimsoll.generator.simulated.latency_pools import LatencyPools
from plimsoll.generator.simulated.latency_tally import LatencyTally
from plimsoll.generator.simulated.path_run import PathRun, PathSpan
from plimsoll.search.simulated.away_times import Away, AwayTimes
from plimsoll.search.simulated.direction import LatencyShape

# Gaps over 1 us that a loop's own work makes: a turn with 32 frames to send and measure.
_TURN = LatencyShape(1600.0, 0.18, 60.0)
_TURNS_PER_S = 200_000
# Those without frames, in a loop that has no others.
_IDLE_TURNS_PER_S = 8_000_000
_TSC_HZ = 2_000_000_000
# As the engine keeps them (docs/engine-protocol.md).
_LONGEST_OF_INTERVAL, _LONGEST_OF_TRIAL = 16, 64
# No burst was sampled: a simulated loop spends no cycles.
_NO_CYCLES = CycleBudget(*[Cycles(0, 0)] * 4)


class SimulatedLoop:
    """One loop of the tester; without `times` it is never away."""

    def __init__(self, cpu: int, times: AwayTimes | None, chance: Random) -> None:
        self.cpu = cpu
        self._times = times
        self._chance = chance
        self._pools = LatencyPools(chance)
        self._next: Away | None = None

    def away_within(self, begin_s: float, end_s: float) -> list[Away]:
        """When it is away in that time, whole: the first may begin before, the last end after.

        Time never goes back from call to call.
        """
        found: list[Away] = []
        if self._times is None:
            return found
        away = self._next or self._times.after(begin_s, self._chance)
        while away.begin_s < end_s:
            if away.end_s > begin_s:
                found.append(away)
            if away.end_s > end_s:
                break
            away = self._times.after(away.end_s, self._chance)
        self._next = away
        return found


class LoopRun:
    """What one loop counts in one trial, which began at `began_s`."""

    def __init__(self, loop: SimulatedLoop, pools: LatencyPools, stall_s: float, began_s: float):
        self.loop = loop
        self._gaps = LatencyTally(pools)
        self._stall_s = stall_s
        self._began_s = began_s
        self._polls = self._idle_polls = self._stalls = self._stalled_ns = 0
        self._longest: tuple[Stall, ...] = ()

    def interval(self, length_s: float, busy: bool, ended: Sequence[Away]) -> WorkerCounts:
        """An interval of the trial, in which these times of being away ended."""
        watched_s = max(0.0, length_s - sum(away.length_s for away in ended))
        turns = int(watched_s * _TURNS_PER_S) if busy else 0
        idle = int(watched_s * _IDLE_TURNS_PER_S * (0.5 if busy else 1.0))
        away_ns = [round(away.length_s * 1e9) for away in ended]
        gaps = (
            self._gaps.unqueued_and(_TURN, turns, away_ns)
            if away_ns
            else self._gaps.ordinary(_TURN, turns)
        )
        stalls = [self._stall(away) for away in ended if away.length_s > self._stall_s]
        lengths = [stall.length_ns for stall in stalls]
        counts = WorkerCounts(
            self.loop.cpu,
            turns + idle,
            idle,
            len(stalls),
            sum(lengths),
            max(lengths, default=0),
            gaps.histogram,
            _NO_CYCLES,
            _longest(stalls, _LONGEST_OF_INTERVAL),
        )
        self._add(counts)
        return counts

    def total(self) -> WorkerCounts:
        """The whole trial so far."""
        return WorkerCounts(
            self.loop.cpu,
            self._polls,
            self._idle_polls,
            self._stalls,
            self._stalled_ns,
            self._longest[0].length_ns if self._longest else 0,
            self._gaps.total().histogram,
            _NO_CYCLES,
            self._longest,
        )

    def _stall(self, away: Away) -> Stall:
        return Stall(
            away.end_s - self._began_s, int(away.end_s * _TSC_HZ), round(away.length_s * 1e9)
        )

    def _add(self, counts: WorkerCounts) -> None:
        self._polls += counts.polls
        self._idle_polls += counts.idle_polls
        if counts.stalls:
            self._stalls += counts.stalls
            self._stalled_ns += counts.stalled_ns
            self._longest = _longest((*self._longest, *counts.longest), _LONGEST_OF_TRIAL)


def _longest(stalls: Sequence[Stall], most: int) -> tuple[Stall, ...]:
    return tuple(sorted(stalls, key=lambda stall: -stall.length_ns)[:most])


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
