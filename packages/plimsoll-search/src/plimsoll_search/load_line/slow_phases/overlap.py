"""Whether slow phases may come while another one lasts, and how many at once to reckon with.

Links of a bundle fail one by one, whatever the others do, and two that are down take twice as
much. A DUT that is slow by turns is never doubly so. Which it is, many phases without an
overlap say; few leave it open, and then what is chosen is to survive either way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

# Believed before any phase was seen: even odds.
_PRIOR = 0.5
_MOST_AT_ONCE = 6
# So many phases, and none at the same time as another, begin to say something.
_FEW = 3
# Each direction has phases of its own.
_DIRECTIONS = 2
# Rates from a hundredth of the mean to ten times it, in steps of their logarithm.
_STEP, _STEPS = 0.1, range(-46, 24)


@dataclass(frozen=True, slots=True)
class PhasesSeen:
    """So many phases of `length_s` in the mean, in `watched_s`; no two at once."""

    count: int
    length_s: float
    watched_s: float

    def at_once(self, duration_s: float, confidence: float, may: float) -> int:
        """How many phases at once a load has to bear, if they may overlap with the odds `may`.

        The least number with which a load, having passed a validation of `duration_s`, survives
        another with this confidence: more phases at once come as a Poisson process, if at all.
        While they are few, that they may overlap is survived by itself, unless it is unlikelier
        than a failure: they leave it open, and a load for the mean of yes and no survives neither.
        """
        if self.count < _FEW and may > 1.0 - confidence:
            may = 1.0
        return next(
            (
                number
                for number in range(1, _MOST_AT_ONCE)
                if self._odds_having_passed(number, duration_s, may) >= confidence
            ),
            _MOST_AT_ONCE,
        )

    def odds_of_overlap(self, at_random: float) -> float:
        """By Bayes' rule, after so many phases that found no other.

        `at_random` is the probability that chance sets phases off: others do not overlap.
        """
        prior = _PRIOR * at_random
        unseen = prior * math.exp(-self.count * self._others())
        return unseen / (unseen + 1.0 - prior)

    def _odds_having_passed(self, number: int, duration_s: float, may: float) -> float:
        more = [(weight, self._more(per_s, number, duration_s)) for weight, per_s in self._rates()]
        once = 1.0 - may + may * sum(weight * math.exp(-each) for weight, each in more)
        twice = 1.0 - may + may * sum(weight * math.exp(-2.0 * each) for weight, each in more)
        return twice / once if once else 0.0

    def _more(self, per_s: float, number: int, duration_s: float) -> float:
        """How often a phase begins in `duration_s` while so many others last."""
        others = per_s * self.length_s / _DIRECTIONS
        return per_s * duration_s * others**number / math.factorial(number)

    def _rates(self) -> Iterator[tuple[float, float]]:
        """Of phases, with their weights: what a few say of how often they come is not much.

        A gamma distribution, which is what Bayes' rule makes of any order of magnitude.
        """
        mean = self.count / self.watched_s
        rates = [mean * math.exp(_STEP * step) for step in _STEPS]
        logs = [self.count * (math.log(each / mean) - each / mean) for each in rates]
        weights = [math.exp(log - max(logs)) for log in logs]
        total = math.fsum(weights)
        return ((weight / total, rate) for weight, rate in zip(weights, rates, strict=True))

    def _others(self) -> float:
        """The mean number of phases of one direction at any time."""
        return self.count / self.watched_s * self.length_s / _DIRECTIONS
