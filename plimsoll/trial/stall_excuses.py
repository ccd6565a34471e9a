"""Which losses a stall of the tester explains, and which the DUT answers for."""

from __future__ import annotations

import math
from collections.abc import Iterable

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.interface import Interval, StreamCounts
from plimsoll.traffic.plan import StreamPlan


class StallExcuses:
    """Adds up each stream's losses, interval by interval, and how many are excused.

    While a polling loop is away, frames that come back wait in its queue; what no
    longer fits there, `queue_frames`, is lost by the tester. So a stall excuses, in its
    own interval and in the next and through the drain, the frames that can have come
    meanwhile less those that the queue holds. It never excuses frames that the DUT left
    no room for: a stalled tester sends less, and its burst afterwards is kept small
    against the queue (TrialSettings.plan).
    """

    def __init__(
        self, streams: Iterable[StreamPlan], drained_by: DrainedBy, queue_frames: int
    ) -> None:
        self._rates_pps = {plan.stream: plan.rate_pps for plan in streams}
        self._drained_by = drained_by
        self._queue_frames = queue_frames
        self._missing = dict.fromkeys(self._rates_pps, 0)
        self._refused = dict.fromkeys(self._rates_pps, 0)
        self._excused = dict.fromkeys(self._rates_pps, 0)
        self._left_over = dict.fromkeys(self._rates_pps, 0)

    def add(self, interval: Interval) -> None:
        """Account for the next interval."""
        for counts in interval.streams:
            self._missing[counts.stream] += counts.missing
            self._refused[counts.stream] += refused_by_dut(counts, self._drained_by)
            fresh = self._overflow(interval, counts.stream)
            spent = self._excuse(counts.stream, counts.missing, fresh)
            unspent_before = self._left_over[counts.stream] + fresh - spent
            keeps = interval.phase == "drain"
            self._left_over[counts.stream] = unspent_before if keeps else min(fresh, unspent_before)

    def unexcused(self, stream: int) -> int:
        """Frames lost so far, as gaps in the sequence show, that no stall explains."""
        return self._missing[stream] + self._refused[stream] - self._excused[stream]

    def unexcused_of(self, stream: int, lost: int) -> int:
        """The same of the whole trial, of which `lost` frames were lost in the end.

        Frames lost after the last that came back leave no gap; they are excused
        by what the last stalls have left over.
        """
        after_the_last = max(0, lost - self._missing[stream] - self._refused[stream])
        excused = self._excused[stream] + min(after_the_last, self._left_over[stream])
        return max(0, lost - excused)

    def _excuse(self, stream: int, missing: int, fresh: int) -> int:
        spent = max(0, min(missing, self._left_over[stream] + fresh))
        self._excused[stream] += spent
        return spent

    def _overflow(self, interval: Interval, stream: int) -> int:
        """Of the longest stalls, which the interval lists; shorter ones overflow less."""
        lengths_ns = [stall.length_ns for worker in interval.workers for stall in worker.longest]
        arrived = (math.ceil(self._rates_pps[stream] * ns / 1e9) for ns in lengths_ns)
        return sum(max(0, frames - self._queue_frames) for frames in arrived)


def refused_by_dut(counts: StreamCounts, drained_by: DrainedBy) -> int:
    """Frames that found no room in a queue which the DUT should have emptied."""
    return counts.refused if drained_by == "dut" else 0
