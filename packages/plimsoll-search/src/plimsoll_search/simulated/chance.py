"""Draws of counts: Poisson, binomial, and sums of geometric ones.

Few are drawn exactly; from `_MANY` on by the normal distribution of the same mean and
variance, which a count of so many differs from by less than a simulation could show.
"""

from __future__ import annotations

import math
from random import Random

_MANY = 50.0


def poisson(chance: Random, mean: float) -> int:
    """A Poisson count of this mean."""
    if mean <= 0.0:
        return 0
    if mean > _MANY:
        return max(0, round(chance.gauss(mean, math.sqrt(mean))))
    # The first n + 1 arrivals of a unit process that pass `mean`.
    limit, product, count = math.exp(-mean), chance.random(), 0
    while product > limit:
        product *= chance.random()
        count += 1
    return count


def binomial(chance: Random, trials: int, share: float) -> int:
    """How many of `trials` happen, each with probability `share`."""
    if trials <= 0 or share <= 0.0:
        return 0
    if share >= 1.0:
        return trials
    if share > 0.5:
        return trials - binomial(chance, trials, 1.0 - share)
    mean = trials * share
    if mean > _MANY:
        drawn = round(chance.gauss(mean, math.sqrt(mean * (1.0 - share))))
        return min(trials, max(0, drawn))
    return _rare_among(chance, trials, share)


def geometric_sum(chance: Random, events: int, mean: float) -> int:
    """The sum of `events` geometric counts from 1 on, each of this mean (at least 1)."""
    if mean <= 1.0:
        return events
    if events > _MANY:
        deviation = math.sqrt(events * mean * (mean - 1.0))
        return max(events, round(chance.gauss(events * mean, deviation)))
    scale = math.log1p(-1.0 / mean)
    return sum(1 + int(math.log(1.0 - chance.random()) / scale) for _ in range(events))


def _rare_among(chance: Random, trials: int, share: float) -> int:
    """By the geometric gaps between those that happen."""
    scale, at, count = math.log1p(-share), -1, 0
    while True:
        at += 1 + int(math.log(1.0 - chance.random()) / scale)
        if at >= trials:
            return count
        count += 1
