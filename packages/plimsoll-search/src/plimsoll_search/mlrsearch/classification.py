"""Load classification: RFC 9971's section on it, and its appendix A."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from .goal import Goal
from .trial_result import TrialResult

LoadClass = Literal["lower", "upper", "undecided"]


@dataclass(frozen=True, slots=True)
class DurationSums:
    """Seconds of trials at one load: full-length or short for a goal, low-loss or high-loss."""

    full_low_s: float = 0.0
    full_high_s: float = 0.0
    short_low_s: float = 0.0
    short_high_s: float = 0.0

    @classmethod
    def of(cls, trials: Iterable[TrialResult], final_duration_s: float) -> Self:
        """The sums over all trials at one load."""
        seconds = {(full, high): 0.0 for full in (True, False) for high in (True, False)}
        for trial in trials:
            seconds[trial.duration_s >= final_duration_s, trial.high_loss] += trial.duration_s
        return cls(
            full_low_s=seconds[True, False],
            full_high_s=seconds[True, True],
            short_low_s=seconds[False, False],
            short_high_s=seconds[False, True],
        )


def classify(goal: Goal, trials: Iterable[TrialResult]) -> LoadClass:
    """What the trials at one load make of it.

    A lower bound is one that stays within the exceed ratio even if all that is missing of
    the duration sum turned out high-loss; an upper bound one that exceeds it even if none
    of it did.
    """
    sums = DurationSums.of(trials, goal.final_duration_s)
    # Short low-loss trials prove nothing, but they outweigh short high-loss ones.
    balancing_s = sums.short_low_s * goal.exceed_ratio / (1 - goal.exceed_ratio)
    high_s = sums.full_high_s + max(0.0, sums.short_high_s - balancing_s)
    measured_s = sums.full_low_s + high_s
    whole_s = max(measured_s, goal.duration_sum_s)
    allowed_s = whole_s * goal.exceed_ratio
    if high_s > allowed_s:
        return "upper"
    # Not whole less full_low: rounding could leave a load undecided that misses nothing.
    return "lower" if high_s + (whole_s - measured_s) <= allowed_s else "undecided"
