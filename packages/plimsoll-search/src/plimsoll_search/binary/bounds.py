"""What a binary search is to do, what it knows of each load, and the load to look at next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..strategy.ask import LimitedBy, Phase
from ..strategy.question import TrialPolicy
from ..text.errors import InputError
from ..text.units import format_pps


@dataclass(frozen=True, slots=True)
class BinaryPlan:
    """BinarySettings with every load in pps per direction.

    `rise` multiplies the load until one fails; None stands for the maximum at once.
    `sniff` is the policy of the trials that look first, None where there are none.
    `reach_pps` is the highest load that the tester can offer, where that is below the maximum.
    """

    minimum_pps: float
    maximum_pps: float
    start_pps: float
    granularity: float
    rise: float | None
    sniff: TrialPolicy | None
    search: TrialPolicy
    validation: TrialPolicy
    reach_pps: float | None = None

    def __post_init__(self) -> None:
        if not self.minimum_pps <= self.start_pps <= self.maximum_pps:
            raise InputError(
                f"is {format_pps(self.start_pps)}, outside {format_pps(self.minimum_pps)} to "
                f"{format_pps(self.maximum_pps)}",
                where="search.start",
                remedy="start between minimum and maximum",
            )


# A load, and what to find out about it.
NextTrial = tuple[Literal["search", "validation"], float]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A bracket that only narrows.

    `passed` are loads that passed a search trial, in the order found, and have not failed
    since; `validated_pps` is the highest that passed validation. `failed_pps` is the lowest
    that failed either, in the phase `failed_in`, and `ceiling_pps` the lowest that the
    tester could not test. `reach_pps` is the highest that it can offer, None while that is
    not known to be below the maximum: what was found above does not count. Once a validation
    has failed, short trials are `doubted`: no load above a validated one counts before it is
    validated itself.
    """

    plan: BinaryPlan
    passed: tuple[float, ...] = ()
    validated_pps: float | None = None
    failed_pps: float | None = None
    failed_in: Phase = "search"
    ceiling_pps: float | None = None
    reach_pps: float | None = None
    doubted: bool = False

    @property
    def top_pps(self) -> float:
        """The highest load that may be asked for."""
        return self.plan.maximum_pps if self.reach_pps is None else self.reach_pps

    @property
    def barred_pps(self) -> float | None:
        """The lowest load that failed or could not be tested, None while none did."""
        known = [load for load in (self.failed_pps, self.ceiling_pps) if load is not None]
        return min((load for load in known if load <= self.top_pps), default=None)

    @property
    def lower_pps(self) -> float | None:
        """The highest load known to pass a search trial, None until one did."""
        barred, top = self.barred_pps, self.top_pps
        passed = (load for load in self.passed if load <= top)
        return max((load for load in passed if barred is None or load < barred), default=None)

    def limited_by(self) -> LimitedBy:
        """What kept the load line from being higher."""
        barred = self.barred_pps
        if barred is None:
            return "maximum" if self.reach_pps is None else "tester"
        return "dut" if barred == self.failed_pps else "tester"

    def after_pass(self, phase: Phase, load_pps: float) -> Bounds:
        """A load passed a search trial, or a validation."""
        if phase == "validation":
            return replace(self, validated_pps=load_pps)
        return replace(self, passed=(*self.passed, load_pps))

    def after_fail(self, phase: Phase, load_pps: float) -> Bounds:
        """A load failed; after a failed validation it is among those that had passed."""
        return replace(
            self,
            passed=tuple(load for load in self.passed if load < load_pps),
            failed_pps=load_pps,
            failed_in=phase,
            doubted=self.doubted or phase == "validation",
        )

    def after_untestable(self, load_pps: float) -> Bounds:
        """The tester could not test a load."""
        return replace(self, ceiling_pps=load_pps)

    def after_ceiling(self, reach_pps: float) -> Bounds:
        """The tester cannot offer more than this."""
        return replace(self, reach_pps=min(reach_pps, self.top_pps))

    def next_step(self) -> NextTrial | None:
        """What to find out next; None where all is known."""
        barred = self.barred_pps
        if barred is None:
            return self._upward()
        return self._by_validations(barred) if self.doubted else self._by_search_trials(barred)

    def _upward(self) -> NextTrial | None:
        """Nothing is barred yet: from the start towards the top, then validate that."""
        top = self.top_pps
        if self.validated_pps is not None:
            # Doubted, and then the tester's ceiling came down to between this and what failed.
            is_over = not self.doubted or self._is_narrow(self.validated_pps, top)
            return None if is_over else self._prove(top)
        lower = self.lower_pps
        if lower is None:
            return "search", min(self.plan.start_pps, top)
        if lower == top:
            return "validation", top
        raised = top if self.plan.rise is None else lower * self.plan.rise
        return "search", min(raised, top)

    def _by_search_trials(self, barred: float) -> NextTrial | None:
        """Bisect until the bracket is narrow, then validate its lower end."""
        if self.validated_pps is not None:
            return None
        lower = self.lower_pps
        floor = self.plan.minimum_pps if lower is None else lower
        if not self._is_narrow(floor, barred):
            return "search", (floor + barred) / 2
        if lower is not None:
            return "validation", lower
        return ("search", floor) if floor < barred else None

    def _by_validations(self, barred: float) -> NextTrial | None:
        """First back through what passed, which bisection left ever further apart; then bisect."""
        floor = self.plan.minimum_pps if self.validated_pps is None else self.validated_pps
        back = [load for load in self.passed if load > floor and self._is_apart(load, barred)]
        if back:
            return "validation", max(back)
        if not self._is_narrow(floor, barred):
            return self._prove((floor + barred) / 2)
        if self.validated_pps is None and floor < barred:
            return self._prove(floor)
        return None

    def _prove(self, load_pps: float) -> NextTrial:
        """Only what passed a search trial is validated."""
        return ("validation" if load_pps in self.passed else "search"), load_pps

    def _is_narrow(self, floor: float, barred: float) -> bool:
        return barred - floor <= self.plan.granularity * barred

    def _is_apart(self, load: float, barred: float) -> bool:
        """Nearer to a load that failed there is little to hope for."""
        return load <= barred - self.plan.granularity * barred
