"""How much of the time that a search may take is left."""

from __future__ import annotations

from ..strategy.ask import Ask, Told
from ..text.units import format_duration
from .plan import LoadLinePlan


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
