"""A bound on one quantile of the latency."""

from __future__ import annotations

from typing import Literal

from plimsoll.traffic.plan import ProfileRole, StreamPlan
from plimsoll.traffic.units import LatencyField, format_ns
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.finding import Finding, FindingOutcome
from plimsoll.trial.outcome import Outcome
from plimsoll.trial.quantiles import QuantileName, quantile_ns, samples_needed


class LatencyBound(Criterion):
    """At most this latency at a quantile, of each stream of a role.

    `stream` narrows it to the profile's stream of that name. Samples that a
    stall of the tester touched are left out: they measure the tester. A quantile
    other than min and max needs so many samples that one lies beyond it: 100 for p99.
    """

    kind: Literal["latency"] = "latency"
    quantile: QuantileName
    at_most: LatencyField
    role: ProfileRole = "latency"
    stream: str | None = None

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding per stream; invalid where no stream or too few samples are there to judge."""
        streams = [plan for plan in outcome.plan.streams if self._concerns(plan)]
        if not streams:
            wanted = f"stream {self.stream}" if self.stream else f"{self.role} stream"
            return [self._finding("trial", None, "invalid", f"there is no {wanted} to judge")]
        return [self._judge(plan, outcome) for plan in streams]

    def _concerns(self, plan: StreamPlan) -> bool:
        named = self.stream is None or self.stream in (plan.name, plan.name.rpartition("/")[0])
        return named and plan.role == self.role

    def _judge(self, plan: StreamPlan, outcome: Outcome) -> Finding:
        counts = outcome.counts(plan.stream)
        value_ns = quantile_ns(counts.latency, self.quantile)
        if value_ns is None:
            touched = counts.latency_across_stalls.count
            said = f"no latency sample ({touched:,} more were touched by stalls of the tester)"
            return self._finding(plan.name, None, "invalid", said)
        count, needed = counts.latency.count, samples_needed(self.quantile)
        if count < needed:
            said = f"too few samples ({count:,}) for {self.quantile}, which needs {needed:,}"
            return self._finding(plan.name, None, "invalid", said)
        said = f"{self.quantile} latency {format_ns(value_ns)} of {count:,} samples"
        verdict: FindingOutcome = "ok" if value_ns <= self.at_most else "fail"
        return self._finding(plan.name, value_ns, verdict, said)

    def _finding(
        self, subject: str, value_ns: int | None, outcome: FindingOutcome, said: str
    ) -> Finding:
        text = f"{subject}: {said}; {self.quantile} at most {format_ns(self.at_most)} allowed"
        rule = f"{self.kind}-{self.quantile}"
        return Finding(rule, subject, value_ns, self.at_most, "ns", outcome, text)
