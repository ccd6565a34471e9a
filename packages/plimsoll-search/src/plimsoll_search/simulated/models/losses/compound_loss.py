"""How likely rare events lose no more than a budget of frames together."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

# From so many events on their sum is normally distributed, to a percent of its odds.
_MANY = 200.0
_NEXT_TO_NOTHING = 1e-12
_NORMAL = NormalDist()


class LossEvents(NamedTuple):
    """So many events a second, at random times; each loses a geometric count of frames.

    `frames` is the mean of one event, at least 1.
    """

    per_s: float
    frames: float

    @property
    def lost_pps(self) -> float:
        """Frames lost in the mean."""
        return self.per_s * self.frames

    @classmethod
    def losing(cls, lost_pps: float, frames: float) -> LossEvents:
        """Events of `frames` each (at least 1) that lose so much together."""
        frames = max(1.0, frames)
        return cls(lost_pps / frames, frames)

    def odds_of_at_most(self, budget_frames: float, duration_s: float) -> float:
        """The probability that the events of that time lose no more than the budget.

        A count N of events is Poisson; n geometric counts sum up to at most k just when a
        binomial count of k tries, each a success with 1 ÷ `frames`, is at least n.
        """
        events, budget = self.per_s * duration_s, int(budget_frames)
        if events <= 0.0:
            return 1.0
        if budget < 1:
            return math.exp(-events)
        if events > _MANY:
            deviation = math.sqrt(events * self.frames * (2.0 * self.frames - 1.0))
            return _NORMAL.cdf((budget + 0.5 - events * self.frames) / deviation)
        successes = budget / self.frames
        if successes - 8.0 * math.sqrt(successes) > events + 12.0 * math.sqrt(events) + 12.0:
            return 1.0
        return _few(events, budget, 1.0 / self.frames)


def odds_of_sum_at_most(
    budget_frames: float, events: float, mean_frames: float, mean_square: float
) -> float:
    """The probability that a Poisson count of `events` loses no more than the budget.

    Each loses `mean_frames` in the mean, and so much in the mean of the squares. What they
    lose together is taken for a gamma distribution, where there is any event at all.
    """
    none = math.exp(-events)
    if budget_frames < 1.0 or none == 1.0:
        return none
    mean = events * mean_frames / (1.0 - none)
    if mean <= _NEXT_TO_NOTHING * budget_frames:
        # By Markov's inequality; its square may be too small for a number.
        return 1.0
    square = (events * mean_square + (events * mean_frames) ** 2) / (1.0 - none)
    variance = square - mean * mean
    if variance <= 1e-9 * square:
        return 1.0 if mean <= budget_frames else none
    # Wilson and Hilferty: the cube root of a gamma distribution is nearly a normal one.
    spread = variance / mean**2 / 9.0
    root = (budget_frames / mean) ** (1.0 / 3.0)
    return none + (1.0 - none) * _NORMAL.cdf((root - 1.0 + spread) / math.sqrt(spread))


def _few(events: float, tries: int, success: float) -> float:
    """The odds that a Poisson count of mean `events` is at most a binomial one."""
    odds_of_n, odds_of_fewer, odds = math.exp(-events), 0.0, 0.0
    n = 0
    while n <= tries and (n < events or odds_of_n > 1e-12):
        odds += odds_of_n * max(0.0, 1.0 - odds_of_fewer)
        odds_of_fewer += _binomial(n, tries, success)
        n += 1
        odds_of_n *= events / n
    return min(1.0, odds)


def _binomial(n: int, tries: int, success: float) -> float:
    """The odds of n successes."""
    if success >= 1.0:
        return 1.0 if n == tries else 0.0
    return math.exp(
        math.lgamma(tries + 1)
        - math.lgamma(n + 1)
        - math.lgamma(tries - n + 1)
        + n * math.log(success)
        + (tries - n) * math.log1p(-success)
    )
