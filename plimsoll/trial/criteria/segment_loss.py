"""Frames lost ÷ frames offered, in every segment of a trial's time.

What trafficgen's segmented streams are for: a burst of losses that a long trial's ratio
would swallow stands out in its segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.text.units import RatioField, format_number, format_ratio
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.outcome.due_frames import sends_nothing
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.steadiness import losses_by_interval


class SegmentLoss(Criterion):
    """Maximum loss ratio per direction in each of `segments` parts of the trial.

    Parts are whole intervals, as many in each as may be; a trial with fewer of them than
    `segments` has a part for each.
    """

    kind: Literal["segment-loss"] = "segment-loss"
    at_most: RatioField = 2e-5
    segments: Annotated[int, Field(ge=2, le=1000)] = 10

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding per direction, about its worst segment.

        Invalid where nothing was offered in a segment, and where the tester's stalls
        explain what broke it.
        """
        directions: dict[str, list[StreamPlan]] = {}
        for plan in outcome.sending:
            directions.setdefault(f"{plan.tx_port}-{plan.rx_port}", []).append(plan)
        unexcused = outcome.unexcused_losses()
        return [
            self._judge(direction, self._cut(outcome, streams, unexcused))
            for direction, streams in directions.items()
        ]

    def _judge(self, direction: str, segments: Sequence[_Segment]) -> Finding:
        if not segments or not all(each.offered for each in segments):
            return self._finding(direction, None, "invalid", "nothing was offered in a segment")
        worst = max(segments, key=lambda each: each.unexcused / each.offered)
        if worst.unexcused > self.at_most * worst.offered:
            return self._finding(
                direction, worst.unexcused / worst.offered, "fail", worst.described(len(segments))
            )
        worst = max(segments, key=lambda each: each.lost / each.offered)
        ratio, described = worst.lost / worst.offered, worst.described(len(segments))
        if ratio <= self.at_most:
            return self._finding(direction, ratio, "ok", described)
        described += f", all but {worst.unexcused:,} while the tester stalled"
        return self._finding(direction, ratio, "invalid", described)

    def _cut(
        self, outcome: Outcome, streams: Sequence[StreamPlan], unexcused: dict[int, int]
    ) -> list[_Segment]:
        """Without those in which the streams' schedules have nothing sent."""
        series = outcome.series
        sending = [index for index in range(len(series)) if series.sending[index]]
        parts = [_Segment() for _ in range(min(self.segments, len(sending)))]
        columns = [series.streams[plan.stream] for plan in streams]
        lost = [
            losses_by_interval(outcome, plan.stream, unexcused[plan.stream]) for plan in streams
        ]
        for position, index in enumerate(sending):
            parts[position * len(parts) // len(sending)].add(
                begin_s=series.begin_s[index],
                end_s=series.end_s[index],
                offered=sum(column.offered[index] for column in columns),
                unexcused=sum(each[index] for each in lost),
                excused=sum(column.lost[index] - column.unexcused[index] for column in columns),
            )
        return [part for part in parts if part.offered or part.is_due(streams)]

    def _finding(
        self, subject: str, ratio: float | None, outcome: FindingOutcome, said: str
    ) -> Finding:
        share = "" if ratio is None else f" ({format_ratio(ratio)})"
        text = f"{subject}: {said}{share}; at most {format_ratio(self.at_most)} allowed"
        return Finding(self.kind, subject, ratio, self.at_most, "ratio", outcome, text)


@dataclass(slots=True)
class _Segment:
    """One part of a trial's time; its losses, and those that no stall of the tester explains."""

    begin_s: float = 0.0
    end_s: float = 0.0
    offered: int = 0
    unexcused: int = 0
    lost: int = 0

    def add(
        self, *, begin_s: float, end_s: float, offered: int, unexcused: int, excused: int
    ) -> None:
        """Take in its next interval."""
        if not self.end_s:
            self.begin_s = begin_s
        self.end_s = end_s
        self.offered += offered
        self.unexcused += unexcused
        self.lost += unexcused + excused

    def is_due(self, streams: Sequence[StreamPlan]) -> bool:
        """Whether any of the streams was to send in it."""
        length_s = self.end_s - self.begin_s
        return not all(sends_nothing(plan, length_s, begin_s=self.begin_s) for plan in streams)

    def described(self, parts: int) -> str:
        """It in words, as one of so many."""
        span = f"{format_number(self.begin_s)} s to {format_number(self.end_s)} s"
        return (
            f"in the worst of {parts} segments, {span}, {self.lost:,} of {self.offered:,} "
            "frames were lost"
        )


CRITERION = SegmentLoss
