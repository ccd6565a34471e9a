"""A bound on one quantile of the latency."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.generator.interface import TrialPlan
from plimsoll.record.trials.trial_record import FindingOutcome
from plimsoll.text.mistakes import mistake
from plimsoll.text.units import LatencyField, format_ns
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import SampleBudget
from plimsoll.trial.criteria.stream_criterion import StreamCriterion
from plimsoll.trial.outcome.baseline import Baseline
from plimsoll.trial.outcome.due_frames import due_frames, scatter
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.left_out import left_out
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.quantiles import QUANTILES, QuantileName, quantile_ns, samples_needed


class LatencyBound(StreamCriterion):
    """At most this latency at a quantile, of each stream of a role.

    The bound is `at_most`, or `times_lowest` that of the same quantile of the same stream
    at the lowest load. A quantile other than min and max needs so many samples that one
    lies beyond it: 100 for p99.

    It is kept only where it would be with the samples that a stall of the tester touched, too:
    where those alone would break it, the finding is invalid, or fails where the kernel's events
    prove that the DUT held a frame for longer than the bound (left_out.py).
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
        latency = outcome.counts(plan.stream).latency
        value_ns = quantile_ns(latency, self.quantile)
        limit_ns = self._limit_ns(plan, outcome.baseline)
        broken = limit_ns is not None and value_ns is not None and value_ns > limit_ns
        beyond = None if limit_ns is None else left_out(outcome, plan, self.quantile, limit_ns)
        if beyond is not None and beyond.outcome == "fail" and not broken:
            return self._finding(plan.name, beyond.proven_ns, limit_ns, "fail", beyond.said)
        if value_ns is None:
            touched = outcome.counts(plan.stream).latency_across_stalls.count
            said = f"no latency sample ({touched:,} more were touched by stalls of the tester)"
            return self._finding(plan.name, None, limit_ns, "invalid", said)
        needed = samples_needed(self.quantile)
        if latency.count < needed:
            said = f"too few samples ({latency.count:,}) for {self.quantile}, which needs "
            return self._finding(plan.name, None, limit_ns, "invalid", said + f"{needed:,}")
        said = f"{self.quantile} latency {format_ns(value_ns)} of {latency.count:,} samples"
        if limit_ns is None:
            said += ", and none is known at the lowest load"
            return self._finding(plan.name, value_ns, None, "invalid", said)
        if broken or beyond is None:
            verdict: FindingOutcome = "fail" if broken else "ok"
            return self._finding(plan.name, value_ns, limit_ns, verdict, said)
        return self._finding(plan.name, value_ns, limit_ns, "invalid", f"{said}, but {beyond.said}")

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
