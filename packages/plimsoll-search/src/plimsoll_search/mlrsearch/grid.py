"""The loads that a search asks for: one grid for all of its goals, so that they meet there."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from .goal import Goal

# Of a step. A load of the grid comes back from its logarithm with a rounding error.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class LoadGrid:
    """Steps of equal ratio upwards from `minimum_pps`, `log_step` apart in the logarithm.

    Places on it are counted in steps; the place of a load off the grid, such as the
    maximum, is a fraction. What two goals ask for within a step is the same load, whose
    trials count for both: the authors of RFC 9971 round so, too.
    """

    minimum_pps: float
    log_step: float

    @classmethod
    def for_goals(cls, minimum_pps: float, goals: Iterable[Goal]) -> Self:
        """Its steps are the least of the goals' widths."""
        return cls(minimum_pps, min(goal.log_width for goal in goals))

    def width(self, goal: Goal) -> int:
        """The steps that bounds of this goal may be apart, at least one."""
        return max(1, math.floor(goal.log_width / self.log_step + _ROUNDING))

    def place(self, load_pps: float) -> float:
        """Where a load is, a whole number on the grid."""
        place = math.log(load_pps / self.minimum_pps) / self.log_step
        whole = round(place)
        return float(whole) if abs(place - whole) < _ROUNDING else place

    def load(self, place: float) -> float:
        """The load of the grid at this place or just below, in pps; never below the minimum."""
        return self.minimum_pps * math.exp(max(0, math.floor(place)) * self.log_step)


def split(length: float, width: int) -> int:
    """Where to halve an interval of `length` steps for a goal of `width`: steps from below.

    One part is `width` times a power of two, so that halving it ends at the width and not
    a hair above, whichever of them leaves the most even parts; the lower is the smaller.
    """
    if length <= 2 * width:
        return width if length == 2 * width else max(1, math.floor(length / 2))
    powers = range(int(math.log2(length / width)) + 1)
    part = max((width << power for power in powers), key=lambda part: part * (length - part))
    return max(1, math.floor(min(part, length - part)))
