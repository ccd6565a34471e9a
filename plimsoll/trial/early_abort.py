"""Ending a trial whose verdict can no longer change."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.stall_excuses import StallExcuses


class EarlyAbort:
    """Called with each interval; True once more is lost than the whole trial may lose.

    Only losses count that show as gaps in the sequence and that no stall of the
    tester explains, and only when they are still missing an interval later:
    frames out of order leave gaps for a moment. So a DUT that returns nothing at
    all is not noticed here; its trial runs to the end and fails then.
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
        self._exceeded_before = [False] * len(self._budgets)

    def __call__(self, interval: Interval) -> bool:
        """Account for the interval; True to stop the trial."""
        self._excuses.add(interval)
        exceeded = [
            sum(self._excuses.unexcused(stream) for stream in budget.streams) > budget.frames
            for budget in self._budgets
        ]
        decided = any(
            now and before for now, before in zip(exceeded, self._exceeded_before, strict=True)
        )
        self._exceeded_before = exceeded
        return decided
