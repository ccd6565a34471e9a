"""Streams sent in the background of a trial, for the DUT's sake: kept apart from all judgement.

Teaching frames may be answered, flooded or swallowed, whatever the DUT makes of them. What
came of them matters to one question alone: whether the DUT counted what the tester counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from plimsoll.generator.interface import Interval, StreamCounts, TrialPlan, TrialReport
from plimsoll.traffic.plan import StreamPlan


@dataclass(frozen=True)
class BackgroundStreams:
    """The streams, and their totals once the trial has ended."""

    streams: tuple[StreamPlan, ...] = ()
    counts: tuple[StreamCounts, ...] = ()

    def added_to(self, plan: TrialPlan) -> TrialPlan:
        """The plan with these streams sent as well."""
        return replace(plan, streams=(*plan.streams, *self.streams))

    def left_out_of(self, interval: Interval) -> Interval:
        """The interval without what these streams did in it."""
        return replace(interval, streams=self._split(interval.streams)[0])

    def split(self, report: TrialReport) -> tuple[TrialReport, BackgroundStreams]:
        """The report without these streams, and these streams with their totals."""
        own, background = self._split(report.streams)
        return replace(report, streams=own), replace(self, counts=background)

    def _split(
        self, counts: Iterable[StreamCounts]
    ) -> tuple[tuple[StreamCounts, ...], tuple[StreamCounts, ...]]:
        """The counts of other streams, and of these."""
        numbers = {plan.stream for plan in self.streams}
        parts: tuple[list[StreamCounts], list[StreamCounts]] = ([], [])
        for each in counts:
            parts[each.stream in numbers].append(each)
        return tuple(parts[0]), tuple(parts[1])


NO_BACKGROUND = BackgroundStreams()
