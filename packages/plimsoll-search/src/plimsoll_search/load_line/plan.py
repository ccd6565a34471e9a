"""LoadLineSettings with every load in pps per direction."""

from __future__ import annotations

from dataclasses import dataclass

# An eighth of a validation is little to pay for one that need not fail.
_STUDY = 8


@dataclass(frozen=True, slots=True)
class GoalPlan:
    """A goal's name, and the share of frames it lets be lost; None where that is not known."""

    name: str
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class LoadLinePlan:
    """The settings, field by field as in LoadLineSettings.

    `reach_pps` is the highest load that the tester can offer, where that is below the maximum.
    `window_s` is how long a piece of a validation is that is judged by itself; None where none is.
    `budget_s` is how long all trials together may take; None for no bound.
    """

    minimum_pps: float
    maximum_pps: float
    width: float
    duration_s: float
    watch_s: float
    validation_s: float
    bursts: bool
    confidence: float
    retries: int
    validation_retries: int
    attempts: int
    goals: tuple[GoalPlan, ...]
    reach_pps: float | None = None
    window_s: float | None = None
    budget_s: float | None = None

    @property
    def study_s(self) -> float:
        """How long a trial is that looks into what only hours would show otherwise."""
        return max(self.watch_s, self.validation_s / _STUDY)
