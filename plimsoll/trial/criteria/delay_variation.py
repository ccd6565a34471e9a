"""A bound on one quantile of the packet delay variation."""

from __future__ import annotations

from typing import Literal

from plimsoll.record.trials.trial_record import FindingOutcome
from plimsoll.text.units import LatencyField, format_ns
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.stream_criterion import StreamCriterion
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.left_out import left_out
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.quantiles import quantile_ns, samples_needed


class DelayVariation(StreamCriterion):
    """At most this packet delay variation at a quantile, of each stream of a role.

    That of a frame is its latency minus the lowest of its stream in the trial (RFC 5481,
    section 4.2). The maximum is exact; the others are as coarse as the latency's buckets,
    at most 0.78 % of the latency too high and never too low. Samples that a stall of the tester
    touched count as they do for a bound on the latency (left_out.py).
    """

    kind: Literal["pdv"] = "pdv"
    quantile: Literal["p50", "p99", "p99.9", "p99.99", "max"]
    at_most: LatencyField

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding per stream; invalid where no stream or too few samples are there to judge."""
        streams = self.concerned(outcome.sending)
        if not streams:
            return [self._finding("trial", None, "invalid", self.none_concerned)]
        return [self._judge(plan, outcome) for plan in streams]

    def _judge(self, plan: StreamPlan, outcome: Outcome) -> Finding:
        latency = outcome.counts(plan.stream).latency
        # One sample does not vary.
        needed = max(2, samples_needed(self.quantile))
        value_ns = quantile_ns(latency, self.quantile)
        if value_ns is None or latency.min_ns is None or latency.count < needed:
            said = f"too few samples ({latency.count:,}) for {self.quantile}, which needs "
            return self._finding(plan.name, None, "invalid", said + f"{needed:,}")
        variation_ns = value_ns - latency.min_ns
        said = f"{self.quantile} delay variation {format_ns(variation_ns)} of {latency.count:,}"
        said += " samples"
        if variation_ns > self.at_most:
            return self._finding(plan.name, variation_ns, "fail", said)
        beyond = left_out(outcome, plan, self.quantile, latency.min_ns + self.at_most)
        if beyond is None:
            return self._finding(plan.name, variation_ns, "ok", said)
        if beyond.proven_ns is not None:
            variation_ns = beyond.proven_ns - latency.min_ns
        said += f", but {beyond.said}"
        return self._finding(plan.name, variation_ns, beyond.outcome, said)

    def _finding(
        self, subject: str, value_ns: int | None, outcome: FindingOutcome, said: str
    ) -> Finding:
        text = f"{subject}: {said}; {self.quantile} at most {format_ns(self.at_most)} allowed"
        rule = f"{self.kind}-{self.quantile}"
        return Finding(rule, subject, value_ns, self.at_most, "ns", outcome, text)
