"""Frames that came back out of order, twice, damaged, or on the wrong port."""

from __future__ import annotations

from typing import Literal

from pydantic import NonNegativeInt

from plimsoll.generator.interface import StreamCounts
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.finding import Finding
from plimsoll.trial.outcome import Outcome

FrameFault = Literal["out-of-order", "duplicate", "corrupt", "misdirected"]


class FrameCount(Criterion):
    """At most this many frames of each stream with one fault."""

    kind: FrameFault
    at_most: NonNegativeInt = 0

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding per stream."""
        return [self._judge(plan, outcome) for plan in outcome.plan.streams]

    def _judge(self, plan: StreamPlan, outcome: Outcome) -> Finding:
        count = _count(outcome.counts(plan.stream), self.kind)
        text = f"{plan.name}: {count:,} frames {self.kind}; at most {self.at_most:,} allowed"
        return Finding(
            rule=self.kind,
            subject=plan.name,
            value=count,
            limit=self.at_most,
            unit="frames",
            outcome="ok" if count <= self.at_most else "fail",
            text=text,
        )


def _count(counts: StreamCounts, fault: FrameFault) -> int:
    match fault:
        case "out-of-order":
            return counts.out_of_order
        case "duplicate":
            return counts.duplicate
        case "corrupt":
            return counts.corrupt
        case "misdirected":
            return counts.misdirected
