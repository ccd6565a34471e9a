"""Bisection for the highest load that passes, then validation of that load.

Unlike trafficgen's binary search, the load that is validated is always one that
a search trial passed, never an untested midpoint.
"""

from __future__ import annotations

from plimsoll.search.ask import Ask, Finished, LimitedBy, Phase
from plimsoll.search.binary_settings import BinaryPlan
from plimsoll.traffic.units import format_pps
from plimsoll.trial.verdict import Verdict

# So many loads in a row that cannot be tested are not about the load.
_HOPELESS = 4


class BinarySearch:
    """A binary search as ask and tell.

    `lower_pps` is the best load that passed a search trial and has not failed
    validation; `upper_pps` the lowest that failed either. An invalid trial moves
    neither: it is asked for again. After `retries` more in a row the load is
    `ceiling_pps`: the tester cannot test it, so the search goes on below, and a load
    line found there is limited by the tester. A validation that stays invalid ends
    the search, because there the tester's noise, not the load, is the matter.
    """

    def __init__(self, plan: BinaryPlan) -> None:
        self._plan = plan
        self._passed: list[float] = []
        self._upper_pps: float | None = None
        self._upper_failed_in: Phase = "search"
        self._ceiling_pps: float | None = None
        self._untestable_in_a_row = 0
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

    @property
    def ceiling_pps(self) -> float | None:
        """The lowest load that the tester could not test, None while it could."""
        return self._ceiling_pps

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
        self._invalid_in_a_row = self._untestable_in_a_row = 0
        if verdict == "pass":
            self._next = self._after_pass(asked)
        else:
            self._next = self._after_fail(asked)

    def _after_invalid(self, asked: Ask) -> Ask | Finished:
        self._invalid_in_a_row += 1
        if self._invalid_in_a_row <= self._retries(asked.phase):
            return self._trial(asked.phase, asked.load_pps)
        self._invalid_in_a_row, invalid_in_a_row = 0, self._invalid_in_a_row
        if asked.phase == "search":
            return self._after_untestable(asked.load_pps)
        return Finished(
            None,
            f"{invalid_in_a_row} validations in a row at {format_pps(asked.load_pps)} "
            "were invalid: the tester could not tell whether the load holds",
        )

    def _after_untestable(self, load_pps: float) -> Ask | Finished:
        self._ceiling_pps = load_pps
        self._untestable_in_a_row += 1
        if self._untestable_in_a_row < _HOPELESS:
            return self._narrow()
        return Finished(
            None,
            f"{_HOPELESS} loads in a row, the last {format_pps(load_pps)}, had only invalid "
            "trials: this tester cannot test here",
        )

    def _after_pass(self, asked: Ask) -> Ask | Finished:
        if asked.phase == "validation":
            return Finished(asked.load_pps, "passed search and validation", self._limited_by())
        self._passed.append(asked.load_pps)
        return self._narrow()

    def _after_fail(self, asked: Ask) -> Ask | Finished:
        self._upper_pps, self._upper_failed_in = asked.load_pps, asked.phase
        # After a failed validation the load is among those that passed.
        self._passed = [passed for passed in self._passed if passed < asked.load_pps]
        return self._narrow()

    def _narrow(self) -> Ask | Finished:
        """Bisect until the bounds are close; then validate the lower one."""
        lower, upper = self.lower_pps, self._lowest_barred()
        if upper is None:
            return self._rise()
        floor = self._plan.minimum_pps if lower is None else lower
        if upper - floor > self._plan.granularity * upper:
            return self._trial("search", (floor + upper) / 2)
        if lower is not None:
            return self._trial("validation", lower)
        if floor < upper:
            return self._trial("search", floor)
        return Finished(None, self._why_no_load_line())

    def _why_no_load_line(self) -> str:
        """What barred the minimum."""
        at_minimum = f"even at the minimum, {format_pps(self._plan.minimum_pps)}"
        if self._ceiling_pps == self._plan.minimum_pps:
            return f"{at_minimum}, no trial could be tested"
        if self._upper_failed_in == "validation":
            return f"no load passed both search and validation; {at_minimum}, validation failed"
        return f"{at_minimum}, no trial passed"

    def _rise(self) -> Ask:
        """Nothing failed yet: try the maximum, or validate it if it has passed."""
        maximum = self._plan.maximum_pps
        return self._trial("validation" if maximum in self._passed else "search", maximum)

    def _lowest_barred(self) -> float | None:
        """The lowest load that failed or could not be tested."""
        barred = [load for load in (self._upper_pps, self._ceiling_pps) if load is not None]
        return min(barred, default=None)

    def _limited_by(self) -> LimitedBy:
        barred = self._lowest_barred()
        if barred is None:
            return "maximum"
        return "dut" if barred == self._upper_pps else "tester"

    def _trial(self, phase: Phase, load_pps: float) -> Ask:
        validation = phase == "validation"
        duration_s = self._plan.validation_duration_s if validation else self._plan.duration_s
        return Ask(phase, load_pps, duration_s, attempt=self._invalid_in_a_row + 1)

    def _retries(self, phase: Phase) -> int:
        return self._plan.validation_retries if phase == "validation" else self._plan.retries
