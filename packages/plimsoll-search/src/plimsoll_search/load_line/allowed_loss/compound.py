"""The probability that rare events lose no more than a budget of frames together.

A Poisson number of events, each of a random size, has a compound Poisson sum. Where few events
make up most of it, its distribution is computed on a grid by Panjer's recursion (Panjer 1981,
*Recursive evaluation of a family of compound distributions*, ASTIN Bulletin 12). Where many do,
it is close to a shifted gamma distribution of the same mean, variance and skewness, whose
distribution function is that of Wilson and Hilferty (1931).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import mul
from statistics import NormalDist
from typing import NamedTuple

_NORMAL = NormalDist()
# From so many events of the mean size on, the sum is taken for a shifted gamma distribution:
# its probabilities then differ from Panjer's by less than 0.003.
_MANY = 30.0
# The budget is cut into so many cells for each event that it is worth, within these bounds.
_CELLS_PER_EVENT, _FEWEST_CELLS, _MAX_CELLS = 6.0, 96, 240
# What is less likely than this does not happen.
_NEVER = 1e-6
# A frame is the least that can be lost.
_MIN_FRAMES = 0.5


class LosingEvents(NamedTuple):
    """Events that lose `frames` each; as many as `expected` come in the mean, by Poisson."""

    expected: float
    frames: float


class Cumulants(NamedTuple):
    """Mean, variance and third cumulant of a compound Poisson sum."""

    mean: float
    variance: float
    third: float

    @classmethod
    def of(cls, events: Iterable[LosingEvents]) -> Cumulants:
        """Those of the sum of all events."""
        first = second = third = 0.0
        for expected, frames in events:
            part = expected * frames
            first += part
            second += part * frames
            third += part * frames * frames
        return cls(first, second, third)

    def times(self, factor: float) -> Cumulants:
        """Where events come so many times as often."""
        return Cumulants(self.mean * factor, self.variance * factor, self.third * factor)


class CompoundSum:
    """What events lose together, against a budget in frames."""

    def __init__(self, budget_frames: float, events: Iterable[LosingEvents]) -> None:
        losing = [each for each in events if each.frames >= _MIN_FRAMES]
        self._budget = budget_frames
        self._can_add_up = budget_frames >= 1.0
        rest = [each for each in losing if each.frames <= budget_frames]
        self._rest = rest if self._can_add_up else []
        # Of these each is too much alone; whether one comes is independent of all others.
        self._too_large = sum(each.expected for each in losing) - sum(
            each.expected for each in self._rest
        )
        self._cumulants = Cumulants.of(self._rest)
        self._largest = max((each.frames for each in self._rest), default=0.0)

    def odds_within(self, factor: float = 1.0) -> float:
        """The probability that they keep to the budget, where they come `factor` times as often.

        With a budget of less than a frame, that there are none.
        """
        if factor <= 0.0:
            return 1.0
        none_too_large = math.exp(-self._too_large * factor)
        if none_too_large < _NEVER or self._cumulants.variance <= 0.0:
            return none_too_large
        return none_too_large * self._odds_of_rest(self._cumulants.times(factor), factor)

    def _odds_of_rest(self, cumulants: Cumulants, factor: float) -> float:
        mean, variance, _ = cumulants
        apart = self._budget - mean
        # Bernstein's inequality, and below the mean what is left of it for sizes above 0.
        largest = self._largest if apart > 0.0 else 0.0
        if math.exp(-(apart**2) / 2.0 / (variance + largest * abs(apart) / 3.0)) < _NEVER:
            return 1.0 if apart > 0.0 else 0.0
        if mean**2 / variance >= _MANY:
            return _shifted_gamma(self._budget, cumulants)
        odds = _panjer([each * factor for each in self._grid], self._cells)
        # A cell stands for sums of half a cell more and less.
        return min(1.0, sum(odds) - odds[-1] / 2.0)

    @cached_property
    def _cells(self) -> int:
        """Into so many the budget is cut."""
        worth = self._budget * self._cumulants.mean / self._cumulants.variance
        return min(_MAX_CELLS, max(_FEWEST_CELLS, math.ceil(_CELLS_PER_EVENT * worth)))

    @cached_property
    def _grid(self) -> list[float]:
        return _on_grid(self._rest, self._budget / self._cells, self._cells)


def _shifted_gamma(value: float, cumulants: Cumulants) -> float:
    mean, variance, third = cumulants
    deviation = math.sqrt(variance)
    skewness = third / (variance * deviation)
    if skewness < 1e-6:
        return _NORMAL.cdf((value - mean) / deviation)
    shape = 4.0 / skewness**2
    # In units of the gamma distribution's mean; its shift makes its mean the sum's.
    ratio = 1.0 + (value - mean) * skewness / (2.0 * deviation)
    if ratio <= 0.0:
        return 0.0
    spread = 1.0 / (9.0 * shape)
    return _NORMAL.cdf((math.cbrt(ratio) - 1.0 + spread) / math.sqrt(spread))


def _on_grid(events: Sequence[LosingEvents], cell: float, cells: int) -> list[float]:
    """The mean count of events by size in cells, between which each is shared by its size.

    So the mean is kept, and nothing is as good as lost in the cell of no loss.
    """
    counts = [0.0] * (cells + 2)
    for expected, frames in events:
        place = frames / cell
        below = min(int(place), cells)
        share = place - below
        counts[below] += expected * (1.0 - share)
        counts[below + 1] += expected * share
    counts[0] = 0.0
    while counts and counts[-1] == 0.0:
        counts.pop()
    return counts


def _panjer(counts: Sequence[float], cells: int) -> list[float]:
    """The probabilities of sums of 0 to `cells` cells, of a mean count by size in cells."""
    weighted = [size * count for size, count in enumerate(counts)][1:]
    odds = [math.exp(-sum(counts))]
    # Backwards, so that the newest probability meets the smallest size.
    recent = [odds[0]]
    for total in range(1, cells + 1):
        odds.append(sum(map(mul, weighted, recent)) / total)
        recent.insert(0, odds[-1])
    return odds
