"""How stalls of one kind come, at random or one each period, and what is of one kind."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median, pstdev


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Without a period they are a Poisson process; with one, their number is that of the periods.

    Each method takes `per_s`, how often stalls beyond a threshold were seen to come, and says
    something of those that exceed it by far: a share of them.
    """

    period_s: float | None = None

    def chance_of_none(self, per_s: float, share: float, duration_s: float) -> float:
        """The chance that none in `duration_s` is among this share of the longest."""
        if self.period_s is None:
            return math.exp(-per_s * duration_s * share)
        each = share * self._share_beyond_threshold(per_s, self.period_s)
        periods = duration_s / self.period_s
        # The phase is not known: one more or one less, in proportion to what is left over.
        whole = math.floor(periods)
        return math.pow(1.0 - each, whole) * (1.0 - (periods - whole) * each)

    def _share_beyond_threshold(self, per_s: float, period_s: float) -> float:
        """No more than all: where one interval hid several, `per_s` is too high."""
        return min(1.0, per_s * period_s)


RANDOM = Arrivals()


# So many gaps at least: of 400,000 sets of twelve random (exponential) gaps, none was found to
# be as regular as the two limits below ask for.
_MIN_GAPS = 12
# The coefficient of variation of the gaps.
_MAX_VARIATION = 0.1
# Of the gaps, so many are of one period: the others are of several, where some were not seen.
_SINGLE_SHARE = 0.6


def period_of(times_s: Iterable[Sequence[float]]) -> float | None:
    """The period in s of what happened at these times of each trial; None where it has none.

    Times are in order. A gap near a multiple of the median gap is taken for several periods of
    which not every one was seen, and counts as their mean.
    """
    gaps = [after - before for each in times_s for before, after in pairwise(each)]
    if len(gaps) < _MIN_GAPS:
        return None
    typical_s = median(gaps)
    if typical_s <= 0.0:
        return None
    periods = [max(1, round(gap / typical_s)) for gap in gaps]
    if periods.count(1) < _SINGLE_SHARE * len(gaps):
        return None
    single = [gap / count for gap, count in zip(gaps, periods, strict=True)]
    mean_s = fmean(single)
    if pstdev(single) > _MAX_VARIATION * mean_s:
        return None
    return sum(gaps) / sum(periods)


# sqrt(-ln(0.01 / 2) / 2), for large samples: of sets that are alike, one pair in a hundred is
# taken to differ.
_CRITICAL = 1.628


def alike(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether they do not differ at the 1 % level; neither may be empty."""
    one, other = sorted(first), sorted(second)
    apart = max(
        abs(bisect_right(one, at) / len(one) - bisect_right(other, at) / len(other))
        for at in (*one, *other)
    )
    return apart <= _CRITICAL * math.sqrt(1 / len(one) + 1 / len(other))
