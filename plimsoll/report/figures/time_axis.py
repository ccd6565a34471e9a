"""The time axis of a chart, and how a long series is thinned without hiding its worst."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

# Rows that a chart carries at most: beyond this a page grows heavy and a pixel holds several.
MAX_ROWS = 12_000
_UNITS = (("s", 1.0, 600.0), ("min", 60.0, 3 * 3600.0), ("h", 3600.0, math.inf))


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Elapsed time in the unit that suits its length; `divisor` turns s into the unit."""

    unit: str
    divisor: float

    @classmethod
    def over(cls, length_s: float) -> TimeAxis:
        """Seconds up to ten minutes, minutes up to three hours, then hours."""
        unit, divisor, _ = next(entry for entry in _UNITS if length_s <= entry[2])
        return cls(unit, divisor)


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a time in s."""

    at_s: float
    value: float


@dataclass(frozen=True, slots=True)
class Thinned:
    """Series of which each point stands for `together` consecutive ones: the worst of them."""

    series: Mapping[str, Sequence[Point]]
    together: int

    def remark(self) -> str:
        """What to tell the reader; nothing when every point is there."""
        if self.together == 1:
            return ""
        return f" Each point is the worst of {self.together} consecutive ones."


def thinned(
    series: Mapping[str, Sequence[Point]],
    worst: Callable[[Iterable[float]], float],
    limit: int = MAX_ROWS,
) -> Thinned:
    """All points where they are at most `limit`; else of each n in a row the worst, at the first.

    `worst` is max or min. Each series keeps its own order.
    """
    total = sum(len(points) for points in series.values())
    together = max(1, math.ceil(total / limit))
    return Thinned({name: _worst_of(p, worst, together) for name, p in series.items()}, together)


def _worst_of(
    points: Sequence[Point], worst: Callable[[Iterable[float]], float], together: int
) -> Sequence[Point]:
    if together == 1:
        return points
    groups = (points[n : n + together] for n in range(0, len(points), together))
    return [Point(group[0].at_s, worst(point.value for point in group)) for group in groups]
