"""Which load to try next for one goal, on the one grid of loads that all goals share.

RFC 9971 leaves the selection open. As the authors' library does, this one halves what the
coarser goal has left, then tries that goal's bounds, and goes on from a bound that does
not hold in steps that double, until halving is the bigger step. All loads are on one grid,
and a load is asked for again until it is classified.

It ends: loads of the grid are finitely many, each new one lies between the bounds, and a
load with full-length trials of the whole duration sum is always classified.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from .classification import TrialLog
from .goal import Goal, LoadSpan

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


# Of a step; of the least width they are more than any range of loads.
_MAX_DOUBLINGS = 40


@dataclass(frozen=True, slots=True)
class Hint:
    """Where to look first: bounds of a coarser goal, or loads tried at the beginning."""

    lower_pps: float | None = None
    upper_pps: float | None = None


@dataclass(frozen=True, slots=True)
class OpenInterval:
    """What a goal leaves open: between its highest load that holds and its lowest barred one."""

    lower_pps: float | None
    barrier_pps: float | None

    def has_inside(self, load_pps: float) -> bool:
        """Whether a load is strictly between the two."""
        return (self.lower_pps or 0.0) < load_pps < (self.barrier_pps or math.inf)


def open_interval(goal: Goal, log: TrialLog, span: LoadSpan) -> OpenInterval:
    """The relevant bounds so far, the tester's ceiling being as good as an upper bound.

    What was found above the span does not count.
    """
    classes = {load: is_ for load, is_ in log.classes(goal).items() if load <= span.top_pps}
    barred = [load for load, found in classes.items() if found == "upper"]
    if span.ceiling_pps is not None and span.ceiling_pps <= span.top_pps:
        barred.append(span.ceiling_pps)
    barrier = min(barred, default=None)
    held = [
        load
        for load, found in classes.items()
        if found == "lower" and (barrier is None or load < barrier)
    ]
    return OpenInterval(max(held, default=None), barrier)


def next_load(
    goal: Goal, hint: Hint, log: TrialLog, span: LoadSpan, grid: LoadGrid
) -> float | None:
    """The load in pps to try next for this goal; None when it has all it asks for."""
    interval = open_interval(goal, log, span)
    if _is_closed(goal, interval, span):
        return None
    for load in _hinted(hint, grid.width(goal), grid):
        if load <= span.top_pps and interval.has_inside(load):
            return load
    lower, barrier = interval.lower_pps, interval.barrier_pps
    if barrier is None:
        if lower is None:
            return span.top_pps
        return _up(lower, _step(goal, hint, log, grid, up=True), grid.width(goal), span, grid)
    if lower is None:
        return _down(goal, hint, log, barrier, grid)
    ahead = _from_a_bound(goal, hint, log, (lower, barrier), grid)
    return grid.load(grid.place(lower) + ahead)


def _is_closed(goal: Goal, interval: OpenInterval, span: LoadSpan) -> bool:
    lower, barrier = interval.lower_pps, interval.barrier_pps
    if barrier is None:
        return lower == span.top_pps
    if lower is None:
        return barrier <= span.minimum_pps
    return goal.reached_by(lower, barrier)


def _hinted(hint: Hint, width: int, grid: LoadGrid) -> Iterator[float]:
    """The middle of bounds that are no more than two widths apart, then the bounds.

    Whatever the middle turns out to be, one of the bounds is not needed then.
    """
    lower, upper = hint.lower_pps, hint.upper_pps
    if lower is not None and upper is not None:
        below = grid.place(lower)
        length = grid.place(upper) - below
        if width < length <= 2 * width:
            yield grid.load(below + split(length, width))
    if lower is not None:
        yield lower
    if upper is not None:
        yield upper


def _step(goal: Goal, hint: Hint, log: TrialLog, grid: LoadGrid, *, up: bool) -> float:
    """How far to go from a bound: two widths, and twice as much for each hope that failed."""
    classes = log.classes(goal)
    if up:
        least = hint.upper_pps or 0.0
        misses = sum(found == "lower" and load >= least for load, found in classes.items())
    else:
        most = hint.lower_pps or math.inf
        misses = sum(found == "upper" and load <= most for load, found in classes.items())
    return float(grid.width(goal) * 2 ** min(max(1, misses), _MAX_DOUBLINGS))


def _up(lower_pps: float, step: float, width: int, span: LoadSpan, grid: LoadGrid) -> float:
    """Up from a lower bound; the top where that is less than a width further."""
    place, top = grid.place(lower_pps) + step, grid.place(span.top_pps)
    return span.top_pps if place > top - width else grid.load(place)


def _down(goal: Goal, hint: Hint, log: TrialLog, barrier_pps: float, grid: LoadGrid) -> float:
    """Down from a barrier; half-way to the minimum where nothing says how far."""
    barrier, width = grid.place(barrier_pps), grid.width(goal)
    step = barrier / 2 if hint == Hint() else _step(goal, hint, log, grid, up=False)
    place = barrier - step
    # The place of a barrier may be a fraction, and what is below it must be another load.
    return grid.load(place if place >= width else 0.0)


def _from_a_bound(
    goal: Goal, hint: Hint, log: TrialLog, bounds: tuple[float, float], grid: LoadGrid
) -> float:
    """How far above the lower bound: half-way, or on from where the hint was, if that is nearer."""
    lower, barrier = map(grid.place, bounds)
    half = split(barrier - lower, grid.width(goal))
    if hint.upper_pps is not None:
        below = grid.place(hint.upper_pps) - lower
        ahead = math.floor(barrier - lower - _step(goal, hint, log, grid, up=False))
        if half < ahead < below:
            return ahead
    if hint.lower_pps is not None:
        above = grid.place(hint.lower_pps) - lower
        ahead = math.floor(_step(goal, hint, log, grid, up=True))
        if above < ahead < half:
            return ahead
    return half


def mean_loss_ratio(goal: Goal, log: TrialLog, load_pps: float) -> float:
    """Over the seconds of all trials at this load; 0 where it has none."""
    trials = log.at(goal, load_pps)
    seconds = math.fsum(trial.duration_s for trial in trials)
    lost = math.fsum(trial.duration_s * trial.loss_ratio for trial in trials)
    return lost / seconds if seconds else 0.0
