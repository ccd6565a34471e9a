"""Ending a trial whose verdict can no longer change."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.interface import Interval, StreamCounts, TrialPlan
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.stall_excuses import StallExcuses


class EarlyAbort:
    """Called with each interval; True once more is lost than the whole trial may lose.

    Losses are the gaps in the sequence, and frames that have had an interval to come
    back in while nothing at all did. Only those count that no stall of the tester
    explains, and only when they are still missing an interval later: frames out of order
    leave gaps for a moment.
    """

    def __init__(
        self,
        plan: TrialPlan,
        criteria: Iterable[Criterion],
        drained_by: DrainedBy,
        queue_frames: int,
    ) -> None:
        self._budgets = [budget for each in criteria for budget in each.losses_allowed(plan)]
        self._excuses = StallExcuses(plan.streams, drained_by, queue_frames)
        self._silences = {each.stream: _Silence() for each in plan.streams}
        self._exceeded_before = [False] * len(self._budgets)

    def __call__(self, interval: Interval) -> bool:
        """Account for the interval; True to stop the trial."""
        self._excuses.add(interval)
        for counts in interval.streams:
            self._silences[counts.stream].add(counts)
        unexcused = self._excuses.unexcused_of(
            {
                stream: self._excuses.lost(stream) + silence.frames
                for stream, silence in self._silences.items()
            }
        )
        exceeded = [
            sum(unexcused[stream] for stream in budget.streams) > budget.frames
            for budget in self._budgets
        ]
        decided = any(
            now and before for now, before in zip(exceeded, self._exceeded_before, strict=True)
        )
        self._exceeded_before = exceeded
        return decided


class _Silence:
    """Frames of one stream, sent since the last that came back, an interval ago or longer.

    They leave no gap in the sequence until another frame comes.
    """

    def __init__(self) -> None:
        self.frames = 0
        self._sent_last = 0

    def add(self, counts: StreamCounts) -> None:
        """Account for the stream's next interval."""
        if counts.received:
            self.frames = self._sent_last = 0
        else:
            self.frames += self._sent_last
            self._sent_last = counts.sent
