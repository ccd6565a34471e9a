"""A bound on one quantile of the packet delay variation."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from plimsoll.generator.interface import StreamCounts
from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.text.units import LatencyField, format_ns
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import StreamCriterion
from plimsoll.trial.outcome.bounded_quantile import BoundedQuantile
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.quantiles import samples_needed


class DelayVariation(StreamCriterion):
    """At most this packet delay variation at a quantile, of each stream of a role.

    That of a frame is its latency minus the lowest of its stream in the trial (RFC 5481,
    section 4.2). The maximum is exact; the others are as coarse as the latency's buckets,
    at most 0.78 % of the latency too high and never too low. Samples that a stall of the tester
    may have delayed count with both ends, as for a bound on the latency; the lowest is that of
    samples that none can have delayed.
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
        known = BoundedQuantile.of(outcome, plan, self.quantile)
        # One sample does not vary.
        needed = max(2, samples_needed(self.quantile))
        samples = known.ends.samples if known else 0
        lowest_ns = _lowest_ns(outcome.counts(plan.stream))
        if known is None or lowest_ns is None or samples < needed:
            said = f"too few samples ({samples:,}) for {self.quantile}, which needs {needed:,}"
            return self._finding(plan.name, None, "invalid", said)
        said = f"{self.quantile} delay variation {known.words(lowest_ns)} of {samples:,} samples"
        check = known.against(lowest_ns + self.at_most)
        said += f"; {check.more}" if check.more else ""
        found = self._finding(plan.name, check.value_ns - lowest_ns, check.outcome, said)
        return replace(found, undecided=check.undecided)

    def _finding(
        self, subject: str, value_ns: int | None, outcome: FindingOutcome, said: str
    ) -> Finding:
        text = f"{subject}: {said}; {self.quantile} at most {format_ns(self.at_most)} allowed"
        rule = f"{self.kind}-{self.quantile}"
        return Finding(rule, subject, value_ns, self.at_most, "ns", outcome, text)


def _lowest_ns(counts: StreamCounts) -> int | None:
    """Of the samples that no stall can have delayed, where there are any: of those it is exact."""
    return counts.latency.min_ns if counts.latency.count else counts.latency_across_stalls.min_ns


CRITERION = DelayVariation
