"""Whether a latency quantile repeats."""

from __future__ import annotations

from typing import Literal

from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import StreamCriterion
from plimsoll.trial.criteria.spread import Spread
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.quantiles import QuantileName, samples_needed


class SpreadOfLatency(Spread, StreamCriterion):
    """The spread of one quantile of the latency, of each stream of a role."""

    kind: Literal["spread-of-latency"] = "spread-of-latency"
    quantile: QuantileName

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding per stream; invalid where no stream or too few samples are there to judge."""
        streams = self.concerned(outcome.sending)
        if not streams:
            return [self._nothing("trial", self.none_concerned)]
        return [self._judge(plan, outcome) for plan in streams]

    def _judge(self, plan: StreamPlan, outcome: Outcome) -> Finding:
        trials = (*outcome.earlier, outcome.repetition())
        quantiles = [each.latency_ns.get(plan.name, {}).get(self.quantile) for each in trials]
        values = [value for value in quantiles if value is not None]
        if len(values) < len(trials):
            needed = samples_needed(self.quantile)
            return self._nothing(plan.name, f"too few samples; {self.quantile} needs {needed:,}")
        return self._compare(self._rule, plan.name, values, outcome)

    @property
    def _rule(self) -> str:
        return f"{self.kind}-{self.quantile}"

    def _nothing(self, subject: str, said: str) -> Finding:
        text = f"{subject}: {said}"
        return Finding(self._rule, subject, None, self.at_most, "ratio", "invalid", text)


CRITERION = SpreadOfLatency
