"""Values as what a search for steps can use: on one scale, and none of them too heavy."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

# As many standard deviations of a normal distribution is its median absolute deviation.
_DEVIATIONS_OF_MEDIAN = 0.6745
# Huber's bound, wide enough that a step of four standard deviations keeps its size.
_BOUND = 3.0


def bounded_scores(values: Sequence[float]) -> list[float]:
    """Each value's distance from the median in robust standard deviations, at most 3 either way.

    One run far out then weighs as much as one at three deviations, and no more; ranks would
    not tell a step from noise that happens to lie in order. Where more than half of the values are
    equal (losses: most are 0), every other one is at the bound.
    """
    middle = median(values)
    distances = [value - middle for value in values]
    deviation = median(map(abs, distances)) / _DEVIATIONS_OF_MEDIAN
    if deviation == 0:
        return [_BOUND * ((each > 0) - (each < 0)) for each in distances]
    return [min(max(each / deviation, -_BOUND), _BOUND) for each in distances]
