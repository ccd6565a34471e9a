"""Whether slow phases may come while another one lasts, and how many at once to reckon with.

Links of a bundle fail one by one, whatever the others do, and two that are down take twice as
much. A DUT that is slow by turns is never doubly so. Which it is, many phases without an
overlap say; few leave it open, and then what is chosen is to survive either way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Believed before any phase was seen: even odds.
_PRIOR = 0.5
_MOST_AT_ONCE = 6
# Each direction has phases of its own.
_DIRECTIONS = 2


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
        """
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
        more = self._expected_more(number, duration_s)
        once = 1.0 - may + may * math.exp(-more)
        return (1.0 - may + may * math.exp(-2.0 * more)) / once

    def _expected_more(self, number: int, duration_s: float) -> float:
        """How often a phase begins in `duration_s` while so many others last."""
        begin = self.count / self.watched_s * duration_s
        return begin * self._others() ** number / math.factorial(number)

    def _others(self) -> float:
        """The mean number of phases of one direction at any time."""
        return self.count / self.watched_s * self.length_s / _DIRECTIONS
