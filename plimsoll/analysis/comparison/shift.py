"""By how much one sample lies above another, with an exact interval: no distribution assumed.

Load lines and latency quantiles of repeated runs are few, skewed, and now and then far out, so
neither means nor normal distributions serve. The estimate is that of Hodges and Lehmann, the
median of all pairwise differences; its interval comes from the null distribution of the
Mann-Whitney statistic (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd
edition, sections 4.1 to 4.3). Of positive values the same is worked out for ratios, on their
logarithms: a share made of it cannot fall below -100 %. How many repetitions would tell follows
Noether, "Sample size determination for some common nonparametric tests", JASA 82 (1987).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, median

CONFIDENCE = 0.95
# The chance that so many repetitions as are named find the difference, where there is one.
_POWER = 0.8
# Nearer to an even chance than this, no sensible number of repetitions tells.
_EVEN = 0.05


@dataclass(frozen=True, slots=True)
class Share:
    """A difference as a share of the first sample: the second's ratio to it, less one.

    `least` and `most` bound it with 95 % confidence; None where there are too few values.
    """

    estimate: float
    least: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class Shift:
    """`estimate` is what the second sample has more than the first, in their unit.

    `least` and `most` bound it with 95 % confidence; None where the samples are too few for
    any bound. `repetitions` is how many values of each sample would tell them apart in four
    of five attempts, were they to differ as they did here; None where they hardly do.
    `relative` is the difference as a share; None where a value is not positive.
    """

    estimate: float
    least: float | None
    most: float | None
    repetitions: int | None
    relative: Share | None

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves out that there is no difference."""
        return self.least is not None and self.most is not None and self.least * self.most > 0


def shift(first: Sequence[float], second: Sequence[float]) -> Shift:
    """Of `second` against `first`; each has at least one value. Raises ValueError for none."""
    differences = sorted(after - before for before in first for after in second)
    if not differences:
        raise ValueError("a sample without a value has no shift")
    rank = lowest_rank(len(first), len(second))
    return Shift(
        estimate=median(differences),
        least=differences[rank - 1] if rank else None,
        most=differences[-rank] if rank else None,
        repetitions=_repetitions(differences),
        relative=_share(first, second, rank),
    )


def _share(first: Sequence[float], second: Sequence[float], rank: int) -> Share | None:
    if min(*first, *second) <= 0:
        return None
    ratios = sorted(after / before for before in first for after in second)
    # The middle of two on the logarithms' scale, as of the ratios the other way round.
    estimate = math.exp(median(map(math.log, ratios)))
    return Share(
        estimate=estimate - 1,
        least=ratios[rank - 1] - 1 if rank else None,
        most=ratios[-rank] - 1 if rank else None,
    )


def lowest_rank(first: int, second: int) -> int:
    """The largest c with P(U < c) <= 2.5 %; the c-th difference from each end is a bound.

    0 where even the extreme difference bounds nothing.
    """
    ways = _ways(first, second)
    allowed = (1 - CONFIDENCE) / 2 * math.comb(first + second, first)
    rank, below = 0, 0
    for count in ways:
        below += count
        if below > allowed:
            return rank
        rank += 1
    return rank


def _ways(first: int, second: int) -> list[int]:
    """In how many orders of the values the Mann-Whitney statistic is 0, 1, 2 …

    They are the coefficients of the Gaussian binomial (first + second choose first).
    """
    ways = [1] + [0] * (first * second)
    for index in range(1, first + 1):
        # Times 1 - q^(second + index), then divided by 1 - q^index.
        for place in range(len(ways) - 1, second + index - 1, -1):
            ways[place] -= ways[place - second - index]
        for place in range(index, len(ways)):
            ways[place] += ways[place - index]
    return ways


def _repetitions(differences: Sequence[float]) -> int | None:
    """Of each sample, by how far the share of pairs with the larger second is from a half."""
    # Counted, so that the samples in the other order give the same to the last bit.
    lead = abs(sum((each > 0) - (each < 0) for each in differences))
    from_even = lead / (2 * len(differences))
    if from_even < _EVEN:
        return None
    normal = NormalDist()
    distance = normal.inv_cdf(1 - (1 - CONFIDENCE) / 2) + normal.inv_cdf(_POWER)
    needed = math.ceil(distance**2 / (6 * from_even**2))
    return max(needed, fewest())


def fewest() -> int:
    """Of each sample, for which there is an interval at all."""
    return next(count for count in range(1, 100) if lowest_rank(count, count))
