"""Bisection for the highest load that passes, then validation of that load.

Unlike trafficgen's binary search, the load that is validated is always one that
a search trial passed, never an untested midpoint.
"""

from __future__ import annotations

from plimsoll.search.ask import Ask, Finished, Phase
from plimsoll.search.binary_settings import BinaryPlan
from plimsoll.traffic.units import format_pps
from plimsoll.trial.verdict import Verdict


class BinarySearch:
    """A binary search as ask and tell.

    `lower_pps` is the best load that passed a search trial and has not failed
    validation; `upper_pps` the lowest that failed either. An invalid trial moves
    neither: it is asked for again, and after `retries` more in a row the search
    gives up, because a load that the tester cannot test says nothing.
    """

    def __init__(self, plan: BinaryPlan) -> None:
        self._plan = plan
        self._passed: list[float] = []
        self._upper_pps: float | None = None
        self._invalid_in_a_row = 0
        self._next: Ask | Finished = self._trial("search", plan.start_pps)

    @property
    def lower_pps(self) -> float | None:
        """The highest load known to pass, None until one did."""
        return max(self._passed, default=None)

    @property
    def upper_pps(self) -> float | None:
        """The lowest load known to fail, None until one did."""
        return self._upper_pps

    def ask(self) -> Ask | Finished:
        """The next trial, or the end; the same answer until `tell` is called."""
        return self._next

    def tell(self, verdict: Verdict) -> None:
        """Take the verdict on the trial asked for."""
        asked = self._next
        if isinstance(asked, Finished):
            raise RuntimeError("a verdict was told to a search that has finished")
        if verdict == "invalid":
            self._next = self._after_invalid(asked)
            return
        self._invalid_in_a_row = 0
        if verdict == "pass":
            self._next = self._after_pass(asked)
        else:
            self._next = self._after_fail(asked.load_pps)

    def _after_invalid(self, asked: Ask) -> Ask | Finished:
        self._invalid_in_a_row += 1
        if self._invalid_in_a_row <= self._retries(asked.phase):
            return self._trial(asked.phase, asked.load_pps)
        return Finished(
            None,
            f"{self._invalid_in_a_row} {asked.phase} trials in a row at "
            f"{format_pps(asked.load_pps)} were invalid: the tester could not test this load",
        )

    def _after_pass(self, asked: Ask) -> Ask | Finished:
        if asked.phase == "validation":
            return Finished(asked.load_pps, "passed search and validation")
        self._passed.append(asked.load_pps)
        return self._narrow()

    def _after_fail(self, load_pps: float) -> Ask | Finished:
        self._upper_pps = load_pps
        # After a failed validation the load is among those that passed.
        self._passed = [passed for passed in self._passed if passed < load_pps]
        return self._narrow()

    def _narrow(self) -> Ask | Finished:
        """Bisect until the bounds are close; then validate the lower one."""
        lower, upper = self.lower_pps, self._upper_pps
        if upper is None:
            return self._rise()
        floor = self._plan.minimum_pps if lower is None else lower
        if upper - floor > self._plan.granularity * upper:
            return self._trial("search", (floor + upper) / 2)
        if lower is not None:
            return self._trial("validation", lower)
        if floor < upper:
            return self._trial("search", floor)
        return Finished(None, f"even the minimum, {format_pps(floor)}, did not pass")

    def _rise(self) -> Ask:
        """Nothing failed yet: try the maximum, or validate it if it has passed."""
        maximum = self._plan.maximum_pps
        return self._trial("validation" if maximum in self._passed else "search", maximum)

    def _trial(self, phase: Phase, load_pps: float) -> Ask:
        validation = phase == "validation"
        duration_s = self._plan.validation_duration_s if validation else self._plan.duration_s
        return Ask(phase, load_pps, duration_s, attempt=self._invalid_in_a_row + 1)

    def _retries(self, phase: Phase) -> int:
        return self._plan.validation_retries if phase == "validation" else self._plan.retries
