"""Better, worse, the same within a share, or cannot tell: what two samples say of a figure.

A load line that the tester or the search's maximum limits is a lower bound: the DUT may carry
more. Where a DUT failed at every load there is an upper bound: it carries less. Each pair of values
is then a range of differences, and the interval's ends are taken of the ranges' ends, so that it
holds whatever these DUTs would carry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from plimsoll.analysis.comparison.shift import Shift, fewest, lowest_rank, shift
from plimsoll.record.methods.run_outcome import Better
from plimsoll.record.results.conclusion import Conclusion, ConclusionKind, Need

# More than so many are not advice.
_MOST_REPETITIONS = 1000


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
    return needed if needed <= _MOST_REPETITIONS else None
