"""What a search is to find: goals as RFC 9971 defines them, coarser ones on the way, the loads."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

# So many coarser goals precede one whose trials are to begin short. The RFC leaves it
# open; two are also what the authors' own library inserts.
_COARSER_GOALS = 2


@dataclass(frozen=True, slots=True)
class Goal:
    """When a load counts as carried.

    Trials shorter than `final_duration_s` are short, all others full-length. Trials of
    `duration_sum_s` in all are enough to classify a load, of which the share `exceed_ratio`
    (at least 0, below 1) may be high-loss trials. The bounds are close enough when they
    differ by the share `width` of the upper one. No trial asked for is shorter than
    `initial_duration_s`. Which trials are high-loss is for the goal's criteria to say, and
    no matter here.
    """

    name: str
    exceed_ratio: float
    width: float
    initial_duration_s: float
    final_duration_s: float
    duration_sum_s: float

    @property
    def log_width(self) -> float:
        """The distance between bounds that are `width` apart, in the logarithm of the load."""
        # A hair less, so that rounding never makes of it more than the width.
        return -math.log1p(-self.width) * (1 - 1e-9)

    def reached_by(self, lower_pps: float, upper_pps: float) -> bool:
        """Whether bounds here are close enough."""
        return upper_pps - lower_pps <= self.width * upper_pps


def stages_of(goal: Goal) -> tuple[Goal, ...]:
    """The goal, last, and before it those that find out cheaply where to look.

    Their duration sums rise by equal factors from the initial duration, their widths
    halve. Where the initial duration already is the whole sum, there is nothing cheaper.
    """
    factor = goal.initial_duration_s / goal.duration_sum_s
    if factor >= 1:
        return (goal,)
    coarser = (
        _coarser(goal, goal.duration_sum_s * factor ** (steps / _COARSER_GOALS), 2**steps)
        for steps in range(_COARSER_GOALS, 0, -1)
    )
    return (*coarser, goal)


def _coarser(goal: Goal, duration_sum_s: float, wider: int) -> Goal:
    # The power above may miss the initial duration by a rounding error.
    duration_sum_s = max(duration_sum_s, goal.initial_duration_s)
    return replace(
        goal,
        # As one goes from width to width in the logarithm, no width comes to a whole.
        width=-math.expm1(wider * math.log1p(-goal.width)),
        final_duration_s=min(goal.final_duration_s, duration_sum_s),
        duration_sum_s=duration_sum_s,
    )


@dataclass(frozen=True, slots=True)
class LoadSpan:
    """From `minimum_pps` to `maximum_pps`, both included, and below `ceiling_pps`.

    The ceiling is the lowest load that the tester could not test; None while it could.
    `reach_pps` is the highest that it can offer, None while that is not known to be below
    the maximum. While `only_minimum`, nothing else is asked for.
    """

    minimum_pps: float
    maximum_pps: float
    ceiling_pps: float | None = None
    reach_pps: float | None = None
    only_minimum: bool = False

    @property
    def top_pps(self) -> float:
        """The highest load that may be asked for, if it is below the ceiling."""
        if self.only_minimum:
            return self.minimum_pps
        return self.maximum_pps if self.reach_pps is None else self.reach_pps

    def limited_to(self, reach_pps: float) -> LoadSpan:
        """The same, less what the tester cannot offer."""
        known = self.maximum_pps if self.reach_pps is None else self.reach_pps
        return replace(self, reach_pps=min(reach_pps, known))

    def barred_at(self, load_pps: float) -> LoadSpan:
        """The same, less what the tester cannot test."""
        ceiling = load_pps if self.ceiling_pps is None else min(load_pps, self.ceiling_pps)
        return replace(self, ceiling_pps=ceiling)


@dataclass(frozen=True, slots=True)
class ValidationPlan:
    """Validation begins `back_off` (a share) below what was found; each failure costs as much."""

    duration_s: float
    retries: int
    back_off: float


@dataclass(frozen=True, slots=True)
class MlrPlan:
    """The goals in order, which are never none, and the range to search.

    `retries` is how often in a row an invalid trial is asked for again; without
    `validation` the relevant lower bound itself is the load line.
    """

    goals: tuple[Goal, ...]
    span: LoadSpan
    retries: int
    early_abort: bool
    validation: ValidationPlan | None
