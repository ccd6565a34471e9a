"""The time axis of every chart, and how a long series is reduced without hiding its extremes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import altair as alt

# Points that a chart carries at most, of all its lines: a pixel or two of a screen for each.
MAX_ROWS = 2_000
_UNITS = (("s", 1.0, 600.0), ("min", 60.0, 3 * 3600.0), ("h", 3600.0, math.inf))


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Elapsed time in the unit that suits its length; `divisor` turns s into the unit."""

    unit: str
    divisor: float
    length_s: float

    @classmethod
    def over(cls, length_s: float) -> TimeAxis:
        """Seconds up to ten minutes, minutes up to three hours, then hours."""
        unit, divisor, _ = next(entry for entry in _UNITS if length_s <= entry[2])
        return cls(unit, divisor, length_s)

    def x(self, of: str, field: str = "time") -> alt.X:
        """The horizontal axis from 0 to the end of what `of` names: a trial, a soak, a run."""
        return alt.X(
            f"{field}:Q",
            title=f"time in the {of} ({self.unit})",
            scale=alt.Scale(domain=[0, self.length_s / self.divisor], nice=False),
        )


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a time in s."""

    at_s: float
    value: float


@dataclass(frozen=True, slots=True)
class Thinned:
    """Series of which each point stands for `together` consecutive ones: the worst of them.

    With `both` there are two points for each, the least and the greatest, by time.
    """

    series: Mapping[str, Sequence[Point]]
    together: int
    both: bool = False

    def remark(self) -> str:
        """What to say of it below the chart; nothing when every point is there."""
        if self.together == 1:
            return ""
        shown = "The lowest and the highest" if self.both else "The worst"
        drawn = "are" if self.both else "is"
        return f" {shown} of every {self.together} consecutive intervals {drawn} drawn."


def thinned(
    series: Mapping[str, Sequence[Point]],
    worst: Callable[[Iterable[float]], float],
    limit: int = MAX_ROWS,
) -> Thinned:
    """All points where they are at most `limit`; else of each n in a row the worst, at the first.

    `worst` is max or min. Each series keeps its own order.
    """
    together = max(1, math.ceil(_total(series) / limit))
    return Thinned({name: _worst_of(p, worst, together) for name, p in series.items()}, together)


def extremes(series: Mapping[str, Sequence[Point]], limit: int = MAX_ROWS) -> Thinned:
    """All points where they are at most `limit`; else the least and greatest of each n in a row."""
    total = _total(series)
    if total <= limit:
        return Thinned(series, 1)
    together = math.ceil(2 * total / limit)
    kept = {name: _extremes_of(points, together) for name, points in series.items()}
    return Thinned(kept, together, both=True)


def _total(series: Mapping[str, Sequence[Point]]) -> int:
    return sum(len(points) for points in series.values())


def _groups(points: Sequence[Point], together: int) -> Iterable[Sequence[Point]]:
    return (points[n : n + together] for n in range(0, len(points), together))


def _worst_of(
    points: Sequence[Point], worst: Callable[[Iterable[float]], float], together: int
) -> Sequence[Point]:
    if together == 1:
        return points
    return [
        Point(group[0].at_s, worst(point.value for point in group))
        for group in _groups(points, together)
    ]


def _extremes_of(points: Sequence[Point], together: int) -> Sequence[Point]:
    kept: list[Point] = []
    for group in _groups(points, together):
        ends = {min(group, key=_value), max(group, key=_value)}
        kept += sorted(ends, key=lambda point: point.at_s)
    return kept


def _value(point: Point) -> float:
    return point.value
