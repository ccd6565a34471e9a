"""Whether something comes regularly, and how often: told from the times at which it was seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean, median, pstdev

# So many gaps at least: of 400,000 sets of twelve random (exponential) gaps, none was found to
# be as regular as the two limits below ask for.
_LEAST_GAPS = 12
# The coefficient of variation of the gaps.
_MOST_VARIATION = 0.1
# Of the gaps, so many are of one period: the others are of several, where some were not seen.
_SINGLE_SHARE = 0.6


def period_of(times_s: Iterable[Sequence[float]]) -> float | None:
    """The period in s of what happened at these times of each trial; None where it has none.

    Times are in order. A gap near a multiple of the median gap is taken for several periods of
    which not every one was seen, and counts as their mean.
    """
    gaps = [after - before for each in times_s for before, after in pairwise(each)]
    if len(gaps) < _LEAST_GAPS:
        return None
    typical_s = median(gaps)
    if typical_s <= 0.0:
        return None
    periods = [max(1, round(gap / typical_s)) for gap in gaps]
    if periods.count(1) < _SINGLE_SHARE * len(gaps):
        return None
    single = [gap / count for gap, count in zip(gaps, periods, strict=True)]
    mean_s = fmean(single)
    if pstdev(single) > _MOST_VARIATION * mean_s:
        return None
    return sum(gaps) / sum(periods)
