"""Which explanation each incident has, by Bayes' rule, given how often each was right before."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .hypotheses import (
    Hypothesis,
    HypothesisName,
    LossIncident,
    SlowPhaseHypothesis,
    SmallBufferHypothesis,
    SporadicHypothesis,
    StallHypothesis,
)

_FITTED: tuple[Callable[[Sequence[LossIncident], float], Hypothesis], ...] = (
    StallHypothesis.fitted,
    SmallBufferHypothesis.fitted,
    SlowPhaseHypothesis.fitted,
    SporadicHypothesis.fitted,
)
# Weights and explanations depend on each other, and have settled after a few rounds.
_ROUNDS = 4
# Believed before anything was seen: so many incidents of each (Dirichlet).
_PRIOR = 1.0


@dataclass(frozen=True)
class Weighed:
    """`shares` are the expected shares of the incidents by hypothesis, with the prior's."""

    shares: Mapping[HypothesisName, float]
    hypotheses: tuple[Hypothesis, ...]

    def odds(self, incident: LossIncident) -> dict[HypothesisName, float]:
        """By hypothesis, the probability that it is what explains the incident."""
        logs = {
            each.name: math.log(self.shares[each.name]) + each.log_density(incident)
            for each in self.hypotheses
        }
        most = max(logs.values())
        parts = {name: math.exp(log - most) for name, log in logs.items()}
        total = sum(parts.values())
        return {name: part / total for name, part in parts.items()}

    def explanation(self, incident: LossIncident) -> HypothesisName:
        """The likeliest."""
        odds = self.odds(incident)
        return max(odds, key=lambda name: odds[name])


def weigh(incidents: Sequence[LossIncident], full_queue: float) -> Weighed:
    """All explanations of these incidents against each other.

    `full_queue` frames wait in plain overload; 0 where that is not known. A mixture is
    fitted by expectation and maximisation: Dempster, Laird and Rubin 1977.
    """
    hypotheses = tuple(fitted(incidents, full_queue) for fitted in _FITTED)
    even = 1.0 / len(hypotheses)
    weighed = Weighed({each.name: even for each in hypotheses}, hypotheses)
    for _ in range(_ROUNDS):
        counts = {each.name: _PRIOR for each in hypotheses}
        for incident in incidents:
            for name, odds in weighed.odds(incident).items():
                counts[name] += odds
        total = sum(counts.values())
        weighed = Weighed({name: count / total for name, count in counts.items()}, hypotheses)
    return weighed
