"""What a load-line search is to do, every load in pps per direction, and the time it has left."""

from __future__ import annotations

from dataclasses import dataclass

from ..strategy.ask import Ask, Told
from ..text.units import format_duration

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


class Budget:
    """Counts what trials sent; teaching, draining and restarts come on top of it.

    A trial that does not fit is not begun. As long as nothing has passed, room is kept for
    one validation.
    """

    def __init__(self, plan: LoadLinePlan) -> None:
        self._plan = plan
        self._spent_s = 0.0

    def spend(self, told: Told) -> None:
        """Book a trial, valid or not."""
        self._spent_s += told.evidence.sending_s

    def allows(self, asked: Ask, *, has_proof: bool) -> bool:
        """Whether there is time for the trial, and for the validation that has to follow it."""
        budget_s = self._plan.budget_s
        if budget_s is None:
            return True
        reserved_s = 0.0 if has_proof or asked.phase == "validation" else self._plan.validation_s
        return self._spent_s + asked.duration_s + reserved_s <= budget_s

    @property
    def text(self) -> str:
        """What ended the search, in a sentence."""
        budget_s = self._plan.budget_s or 0.0
        return (
            f"the budget of {format_duration(budget_s)} ended the search after "
            f"{format_duration(self._spent_s)} of trials"
        )
