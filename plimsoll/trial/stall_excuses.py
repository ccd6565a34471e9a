"""Which losses a stall of the tester explains, and which the DUT answers for."""

from __future__ import annotations

import math
from collections.abc import Iterable

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.interface import Interval, StreamCounts
from plimsoll.traffic.plan import StreamPlan

# Below this the shortest queues in use still hold what arrives: a ring of 2,048
# overflows in 2 ms at 1 Mpps.
EXCUSING_STALL_NS = 1_000_000

# While the tester stalls, frames that come back find a full queue; when it wakes, it
# sends what it is late with in one burst, at most as many again.
_FRAMES_PER_STALLED_FRAME = 2


class StallExcuses:
    """Adds up each stream's losses, interval by interval, and how many are excused.

    A stall of EXCUSING_STALL_NS or more excuses losses in its own interval and
    in the next, and through the drain, but never more frames than the stream
    can have lost to it: a DUT that drops a tenth of the load is not excused by
    a stall of a few milliseconds.
    """

    def __init__(self, streams: Iterable[StreamPlan], drained_by: DrainedBy) -> None:
        self._rates_pps = {plan.stream: plan.rate_pps for plan in streams}
        self._drained_by = drained_by
        self._lost = dict.fromkeys(self._rates_pps, 0)
        self._excused = dict.fromkeys(self._rates_pps, 0)
        self._left_over = dict.fromkeys(self._rates_pps, 0)

    def add(self, interval: Interval) -> None:
        """Account for the next interval."""
        stalled_s = _stalled_s(interval)
        for counts in interval.streams:
            fresh = self._frames_in(stalled_s, counts.stream)
            lost = lost_in_interval(counts, self._drained_by)
            self._lost[counts.stream] += lost
            spent = self._excuse(counts.stream, lost, fresh)
            unspent_before = self._left_over[counts.stream] + fresh - spent
            keeps = interval.phase == "drain"
            self._left_over[counts.stream] = unspent_before if keeps else min(fresh, unspent_before)

    def unexcused(self, stream: int) -> int:
        """Frames lost so far, as gaps in the sequence show, that no stall explains."""
        return self._lost[stream] - self._excused[stream]

    def unexcused_of(self, stream: int, lost: int) -> int:
        """The same of the whole trial, of which `lost` frames were lost in the end.

        Frames lost after the last that came back leave no gap; they are excused
        by what the last stalls have left over.
        """
        after_the_last = max(0, lost - self._lost[stream])
        excused = self._excused[stream] + min(after_the_last, self._left_over[stream])
        return max(0, lost - excused)

    def _excuse(self, stream: int, lost: int, fresh: int) -> int:
        spent = max(0, min(lost, self._left_over[stream] + fresh))
        self._excused[stream] += spent
        return spent

    def _frames_in(self, stalled_s: float, stream: int) -> int:
        return math.ceil(_FRAMES_PER_STALLED_FRAME * self._rates_pps[stream] * stalled_s)


def lost_in_interval(counts: StreamCounts, drained_by: DrainedBy) -> int:
    """Frames found missing in an interval; a queue that the DUT drains and left full counts."""
    return counts.missing + (counts.refused if drained_by == "dut" else 0)


def _stalled_s(interval: Interval) -> float:
    workers = [each for each in interval.workers if each.worst_stall_ns >= EXCUSING_STALL_NS]
    return sum(worker.stalled_ns for worker in workers) / 1e9
