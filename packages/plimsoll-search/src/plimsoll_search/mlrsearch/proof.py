"""Validation of what was found for one goal, as the users of this search do it."""

from __future__ import annotations

from ..strategy.ask import Ask, JudgedVerdict
from ..text.units import format_pps
from .plan import ValidationPlan


class Proof:
    """Backs off from a load until one passes the validation, or the minimum failed too.

    `passed_pps` is that load. A validation that stays invalid ends the proof, because
    there the tester's noise, not the load, is the matter; one that meets the tester's ceiling
    (`met_ceiling`) goes on at what was offered.
    """

    def __init__(
        self, goal: str, found_pps: float, minimum_pps: float, plan: ValidationPlan
    ) -> None:
        self._goal = goal
        self._minimum_pps = minimum_pps
        self._plan = plan
        self._load_pps = self._below(found_pps)
        self._invalid_in_a_row = 0
        self._over = False
        self.passed_pps: float | None = None
        self.failed_pps: list[float] = []
        self.met_ceiling = False
        self.reason = "passed validation"

    def ask(self) -> Ask | None:
        """The next validation; None when the proof has ended."""
        if self._over:
            return None
        return Ask(
            "validation",
            self._load_pps,
            self._plan.duration_s,
            attempt=self._invalid_in_a_row + 1,
            goal=self._goal,
        )

    def tell(self, verdict: JudgedVerdict) -> None:
        """Take the verdict on the validation asked for."""
        if verdict == "invalid":
            self._after_invalid()
            return
        self._invalid_in_a_row = 0
        if verdict == "pass":
            self.passed_pps, self._over = self._load_pps, True
        else:
            self._after_fail()

    def lower_to(self, reach_pps: float) -> None:
        """The tester cannot offer the load of the validation asked for, but this one."""
        self._invalid_in_a_row = 0
        self._load_pps, self.met_ceiling = reach_pps, True

    def _after_invalid(self) -> None:
        self._invalid_in_a_row += 1
        if self._invalid_in_a_row > self._plan.retries:
            self._over = True
            self.reason = (
                f"{self._invalid_in_a_row} validations in a row at {format_pps(self._load_pps)} "
                "were invalid: the tester could not tell whether the load holds"
            )

    def _after_fail(self) -> None:
        self.failed_pps.append(self._load_pps)
        if self._load_pps > self._minimum_pps:
            self._load_pps = self._below(self._load_pps)
            return
        self._over = True
        self.reason = (
            "no load passed both search and validation; even at the minimum, "
            f"{format_pps(self._minimum_pps)}, validation failed"
        )

    def _below(self, load_pps: float) -> float:
        return max(self._minimum_pps, load_pps * (1 - self._plan.back_off))
