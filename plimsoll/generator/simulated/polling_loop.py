"""The simulated tester's own polling loops: now and then one of them is away.

While it is away it sends nothing, and what comes back waits in its port's queue. The
loop sees the gap itself, as the engine's loops do, so the counts show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from plimsoll.generator.interface import CycleBudget, Cycles, Stall, WorkerCounts
from plimsoll.generator.simulated.latency_pools import LatencyPools
from plimsoll.generator.simulated.latency_tally import LatencyTally
from plimsoll.search.simulated.away_times import Away, AwayTimes
from plimsoll.search.simulated.latency_shape import LatencyShape

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
