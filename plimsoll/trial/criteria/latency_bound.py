"""A bound on one quantile of the latency."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.generator.interface import TrialPlan
from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.text.mistakes import mistake
from plimsoll.text.units import LatencyField, format_ns
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import SampleBudget, StreamCriterion
from plimsoll.trial.outcome.bounded_quantile import BoundedQuantile
from plimsoll.trial.outcome.due_frames import due_frames, scatter
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Baseline, Outcome
from plimsoll.trial.outcome.quantiles import QUANTILES, QuantileName, samples_needed


class LatencyBound(StreamCriterion):
    """At most this latency at a quantile, of each stream of a role.

    The bound is `at_most`, or `times_lowest` that of the same quantile of the same stream at the
    lowest load. A quantile other than min and max needs enough samples for one to lie above it, for
    example 100 for p99.

    Samples that a stall of the tester may have delayed count with both ends: the bound is broken
    only by their low ends and kept only by their high ends, and the finding is invalid in between,
    or fails where the kernel's events prove that the DUT held a frame for longer than the bound
    (bounded_quantile.py).
    """

    kind: Literal["latency"] = "latency"
    quantile: QuantileName
    at_most: LatencyField | None = None
    times_lowest: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        if (self.at_most is None) == (self.times_lowest is None):
            given = "no bound" if self.at_most is None else "two bounds"
            raise mistake(
                f"a latency criterion with {given}",
                "give at_most (as in 500us), or times_lowest (as in 3.0)",
            )
        return self

    @property
    def needs_baseline(self) -> bool:
        """So it does as a multiple."""
        return self.times_lowest is not None

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding per stream; invalid where no stream or too few samples are there to judge."""
        streams = self.concerned(outcome.sending)
        if not streams:
            return [self._finding("trial", None, self.at_most, "invalid", self.none_concerned)]
        return [self._judge(plan, outcome) for plan in streams]

    def samples_allowed(self, plan: TrialPlan, baseline: Baseline | None) -> list[SampleBudget]:
        """None for the minimum, which any later sample may lower, and for unknown numbers."""
        budgets = []
        for stream in self.concerned(plan.streams):
            limit_ns = self._limit_ns(stream, baseline)
            samples = self._samples_above(stream, plan.duration_s)
            if limit_ns is not None and samples is not None:
                needed = samples_needed(self.quantile)
                budgets.append(SampleBudget(stream.stream, limit_ns, samples, needed))
        return budgets

    def _samples_above(self, stream: StreamPlan, duration_s: float) -> int | None:
        """The most samples beyond the quantile, if every frame that is due comes back once."""
        if self.quantile in ("min", "max"):
            return 0 if self.quantile == "max" else None
        due = due_frames(stream, duration_s)
        if due is None:
            return None
        # One frame more, as the last may just have left, and one for the rounding.
        return (
            int((due + scatter(stream, due, duration_s) + 1) * (1 - QUANTILES[self.quantile])) + 1
        )

    def _limit_ns(self, stream: StreamPlan, baseline: Baseline | None) -> float | None:
        if self.times_lowest is None:
            return self.at_most
        if baseline is None:
            return None
        lowest_ns = baseline.latency_ns.get(stream.name, {}).get(self.quantile)
        return None if lowest_ns is None else self.times_lowest * lowest_ns

    def _judge(self, plan: StreamPlan, outcome: Outcome) -> Finding:
        known = BoundedQuantile.of(outcome, plan, self.quantile)
        limit_ns = self._limit_ns(plan, outcome.baseline)
        if known is None:
            return self._finding(plan.name, None, limit_ns, "invalid", "no latency sample")
        samples, needed = known.ends.samples, samples_needed(self.quantile)
        if samples < needed:
            said = f"too few samples ({samples:,}) for {self.quantile}, which needs {needed:,}"
            return self._finding(plan.name, None, limit_ns, "invalid", said)
        said = f"{self.quantile} latency {known.words()} of {samples:,} samples"
        if limit_ns is None:
            said += ", and none is known at the lowest load"
            return self._finding(plan.name, known.high_ns, None, "invalid", said)
        check = known.against(limit_ns)
        said += f"; {check.more}" if check.more else ""
        found = self._finding(plan.name, check.value_ns, limit_ns, check.outcome, said)
        return replace(found, undecided=check.undecided)

    def _finding(
        self,
        subject: str,
        value_ns: int | None,
        limit_ns: float | None,
        outcome: FindingOutcome,
        said: str,
    ) -> Finding:
        text = f"{subject}: {said}; {self.quantile} at most {self._bound(limit_ns)} allowed"
        rule = f"{self.kind}-{self.quantile}"
        return Finding(rule, subject, value_ns, limit_ns, "ns", outcome, text)

    def _bound(self, limit_ns: float | None) -> str:
        multiple = f"{self.times_lowest} times that at the lowest load"
        if limit_ns is None:
            return multiple
        return format_ns(limit_ns) + (f" ({multiple})" if self.needs_baseline else "")


CRITERION = LatencyBound
