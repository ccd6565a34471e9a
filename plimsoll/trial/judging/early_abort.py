"""Ending a trial whose verdict can no longer change."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import Interval, LossLimit, StreamCounts, TrialPlan
from plimsoll.generator.latency_ends import LatencyEnds
from plimsoll.trial.criteria.criterion import Criterion, SampleBudget
from plimsoll.trial.outcome.due_frames import StallExcuses
from plimsoll.trial.outcome.outcome import Baseline


class Silence:
    """`frames` of one stream, sent since the last that came back, an interval ago or longer.

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


class EarlyAbort:
    """Called with each interval; True once nothing that follows can change the verdict.

    That is when more is lost than the whole trial may lose, or more latency samples lie
    above a bound. Losses are the gaps in the sequence, and frames that have had an interval
    to come back in while nothing at all did. Only those count that no stall of the tester
    explains, and only when they are still missing an interval later: frames out of order
    leave gaps for a moment.
    """

    def __init__(
        self,
        plan: TrialPlan,
        criteria: Iterable[Criterion],
        drained_by: DrainedBy,
        queue_frames: int,
        *,
        baseline: Baseline | None = None,
    ) -> None:
        criteria = tuple(criteria)
        self._budgets = [budget for each in criteria for budget in each.losses_allowed(plan)]
        self._refused_is_lost = drained_by == "dut"
        self._excuses = StallExcuses(plan.streams, drained_by, queue_frames)
        self._silences = {each.stream: Silence() for each in plan.streams}
        self._exceeded_before = [False] * len(self._budgets)
        self._too_late = [
            TooLate(budget) for each in criteria for budget in each.samples_allowed(plan, baseline)
        ]

    @property
    def loss_limits(self) -> tuple[LossLimit, ...]:
        """By which the generator may end the trial, without waking us for it."""
        return tuple(
            LossLimit(int(budget.frames), tuple(sorted(budget.streams)), self._refused_is_lost)
            for budget in self._budgets
        )

    def __call__(self, interval: Interval) -> bool:
        """Account for the interval; True to stop the trial."""
        streams = {counts.stream: counts for counts in interval.streams}
        # By their low ends: what a stall of the tester may have added is not the DUT's.
        too_late = [each.add(LatencyEnds.of(streams[each.stream]).low) for each in self._too_late]
        return self._lost_too_many(interval) or any(too_late)

    def _lost_too_many(self, interval: Interval) -> bool:
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


# How many latency samples of a stream came after a bound, while a trial runs.
class TooLate:
    """Counts the samples above a budget's limit, interval by interval."""

    def __init__(self, budget: SampleBudget) -> None:
        self.stream = budget.stream
        self._budget = budget
        self._samples = 0
        self._above = 0

    def add(self, latency: Histogram) -> bool:
        """Account for the next interval; True once there are too many."""
        self._samples += latency.count
        self._above += latency.above(self._budget.limit_ns)
        enough = self._samples >= self._budget.needed
        return enough and self._above > self._budget.samples
