"""What two samples say of a figure: by how much they differ, exactly, and whether that tells.

A load line that the tester or the search's maximum limits is a lower bound: the DUT may carry
more. Where a DUT failed at every load there is an upper bound: it carries less. Each pair of values
is then a range of differences, and the interval's ends are taken of the ranges' ends, so that it
holds whatever these DUTs would carry.

By how much one sample lies above another, with an exact interval: no distribution assumed. Load
lines and latency quantiles of repeated runs are few, skewed, and now and then far out, so neither
means nor normal distributions serve. The estimate is that of Hodges and Lehmann, the median of all
pairwise differences; its interval comes from the null distribution of the Mann-Whitney statistic
(Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd edition, sections 4.1 to
4.3). Of positive values the same is worked out for ratios, on their logarithms: a share made of it
cannot fall below -100 %. How many repetitions would tell follows Noether, "Sample size
determination for some common nonparametric tests", JASA 82 (1987).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, median
from typing import Any

from plimsoll.record.methods.method import Better
from plimsoll.record.results.conclusion import Conclusion, ConclusionKind, Need
from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.text.given_path import read_regular_file
from plimsoll.text.units import parse_ratio

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
        repetitions=_repetitions_needed(differences),
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


def _repetitions_needed(differences: Sequence[float]) -> int | None:
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


# More than so many are not advice.
_MAX_REPETITIONS = 1000


@dataclass(frozen=True, slots=True)
class FigureSample:
    """Values of a figure, none of them below zero where one is bounded from above.

    `lower_bounds` says of each whether the true one may be higher, `upper_bounds` whether it is
    lower; empty ones are of values that are all exact.
    """

    values: tuple[float, ...]
    lower_bounds: tuple[bool, ...] = ()
    upper_bounds: tuple[bool, ...] = ()

    @property
    def highest(self) -> tuple[float, ...]:
        """What each value may be at most."""
        if not self.lower_bounds:
            return self.values
        pairs = zip(self.values, self.lower_bounds, strict=True)
        return tuple(math.inf if bound else value for value, bound in pairs)

    @property
    def lowest(self) -> tuple[float, ...]:
        """What each value may be at least."""
        if not self.upper_bounds:
            return self.values
        pairs = zip(self.values, self.upper_bounds, strict=True)
        return tuple(0.0 if bound else value for value, bound in pairs)


@dataclass(frozen=True, slots=True)
class _Interval:
    """Of the difference, as a share or in the figure's unit; up to `bound` it is none."""

    least: float
    most: float
    bound: float

    def kind(self, better: Better) -> ConclusionKind:
        if -self.bound <= self.least and self.most <= self.bound:
            return "same"
        if self.least <= 0 <= self.most:
            return "cannot tell"
        return "better" if (self.least > 0) == (better == "higher") else "worse"


def conclude(
    first: FigureSample, second: FigureSample, better: Better, within: float
) -> Conclusion:
    """Of `second` against `first`; `within` is the share that counts as no difference."""
    if not first.values or not second.values:
        return _concluded("cannot tell", within, None, "values")
    found = shift(first.values, second.values)
    interval = _interval(first, second, within)
    kind: ConclusionKind = "cannot tell" if interval is None else interval.kind(better)
    if kind != "cannot tell":
        return _concluded(kind, within, found)
    recorded = _interval(FigureSample(first.values), FigureSample(second.values), within)
    if recorded is not None and recorded.kind(better) != "cannot tell":
        return _concluded(kind, within, found, "reach")
    count = _repetitions(found, recorded, min(len(first.values), len(second.values)))
    return _concluded(kind, within, found, "repetitions", count)


def _concluded(
    kind: ConclusionKind,
    within: float,
    of: Shift | None,
    needs: Need | None = None,
    repetitions: int | None = None,
) -> Conclusion:
    share = None if of is None else of.relative
    return Conclusion(
        kind=kind,
        within=within,
        share=None if share is None else share.estimate,
        least_share=None if share is None else share.least,
        most_share=None if share is None else share.most,
        needs=needs,
        repetitions=repetitions,
    )


def _interval(first: FigureSample, second: FigureSample, within: float) -> _Interval | None:
    """None where there are too few values for one."""
    rank = lowest_rank(len(first.values), len(second.values))
    if not rank:
        return None
    if min(*first.values, *second.values) > 0:
        bound = within
        low = sorted(after / before - 1 for before in first.highest for after in second.lowest)
        high = sorted(
            after / before - 1 if before else math.inf
            for before in first.lowest
            for after in second.highest
        )
    else:
        bound = within * abs(median(first.values))
        low = sorted(after - before for before in first.highest for after in second.lowest)
        high = sorted(after - before for before in first.lowest for after in second.highest)
    return _Interval(low[rank - 1], high[-rank], bound)


def _repetitions(found: Shift, of: _Interval | None, count: int) -> int | None:
    """To show a difference such as was seen, or where there is hardly one that there is none."""
    if of is None:
        return max(fewest(), found.repetitions or 0)
    if found.repetitions is not None:
        needed = max(found.repetitions, count + 1)
    elif of.bound:
        # The width of an interval falls with the root of the number of values.
        needed = math.ceil(count * ((of.most - of.least) / (2 * of.bound)) ** 2)
    else:
        return None
    return needed if needed <= _MAX_REPETITIONS else None


# Of runs without a search of that kind.
SAME_WITHIN = 0.01
_MAX_EXPERIMENT_MIB = 64


def same_within(experiments: Iterable[Path]) -> float:
    """The greatest `search.width` of these experiments, as a share; 1 % for one without it.

    Raises InputError for an experiment that cannot be read.
    """
    return max(map(_width, experiments), default=SAME_WITHIN)


def _width(experiment: Path) -> float:
    if not experiment.exists():
        return SAME_WITHIN
    text = read_regular_file(experiment, _MAX_EXPERIMENT_MIB, "restore it from a copy of the run")
    found: Any = load_yaml(text.decode())
    search = found.get("search") if isinstance(found, dict) else None
    width = search.get("width") if isinstance(search, dict) else None
    return SAME_WITHIN if width is None else parse_ratio(width)
