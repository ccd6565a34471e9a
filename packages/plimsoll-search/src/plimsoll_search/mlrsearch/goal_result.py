"""What was found for one goal: RFC 9971's regular and irregular results, and their validation."""

from __future__ import annotations

from dataclasses import dataclass

from ..strategy.ask import Ask, JudgedVerdict
from ..strategy.goal_end import GoalEnd, LimitedBy
from ..text.units import format_pps
from .candidate import open_interval
from .classification import RelevantBounds, TrialLog, conditional_throughput
from .goal import Goal, LoadSpan, ValidationPlan


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
                f"{self._invalid_in_a_row} consecutive validations at {format_pps(self._load_pps)} "
                "were invalid because of the tester: whether the load holds is unknown"
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


@dataclass(frozen=True, slots=True)
class GoalBounds:
    """The bounds of one goal when its search has ended.

    `lower_pps` is the relevant lower bound (the effective one where there is no upper
    bound, and below what the tester could not test), `barrier_pps` the lowest load that is
    an upper bound or could not be tested, `conditional_pps` the conditional throughput at
    the lower bound. `without_barrier` is what limits the load where there is no barrier.
    """

    goal: Goal
    bounds: RelevantBounds
    lower_pps: float | None
    barrier_pps: float | None
    conditional_pps: float | None
    without_barrier: LimitedBy

    @classmethod
    def of(cls, goal: Goal, log: TrialLog, span: LoadSpan) -> GoalBounds:
        """As the trials so far have it."""
        lower, barrier = (
            (interval := open_interval(goal, log, span)).lower_pps,
            interval.barrier_pps,
        )
        conditional = (
            None if lower is None else conditional_throughput(goal, lower, log.at(goal, lower))
        )
        top: LimitedBy = "maximum" if span.reach_pps is None else "tester"
        return cls(goal, log.bounds(goal), lower, barrier, conditional, top)

    @property
    def regular(self) -> bool:
        """Whether both relevant bounds exist and are as close as the goal asks."""
        lower, upper = self.lower_pps, self.bounds.upper_pps
        return lower is not None and upper is not None and self.goal.reached_by(lower, upper)

    @property
    def limited_by(self) -> LimitedBy:
        """What kept the lower bound from being higher."""
        if self.barrier_pps is None:
            return self.without_barrier
        return "dut" if self.barrier_pps == self.bounds.upper_pps else "tester"

    def end(self, load_line_pps: float | None, reason: str, proof: Proof | None) -> GoalEnd:
        """How the search for this goal ended, after its proof if there was one."""
        failed = proof.failed_pps if proof is not None else []
        return GoalEnd(
            goal=self.goal.name,
            load_line_pps=load_line_pps,
            reason=reason,
            limited_by=None if load_line_pps is None else self._limited_by(proof),
            proved_by="search" if proof is None else "validation",
            conditional_pps=self.conditional_pps,
            irregular=not self.regular,
            notes=(*self._notes(), *_failures(failed)),
        )

    def _limited_by(self, proof: Proof | None) -> LimitedBy:
        if proof is None:
            return self.limited_by
        if proof.met_ceiling:
            return "tester"
        return "dut" if proof.failed_pps else self.limited_by

    def _notes(self) -> list[str]:
        notes = [
            f"RFC 9971: relevant lower bound {_or_none(self.lower_pps)}, relevant upper bound "
            f"{_or_none(self.bounds.upper_pps)}, conditional throughput "
            f"{_or_none(self.conditional_pps)}"
        ]
        if not self.regular:
            notes.append(f"an irregular result: {self._why_irregular()}")
        if inversions := self.bounds.inversions:
            notes.append(
                f"{len(inversions)} higher loads, up to {format_pps(inversions[-1])}, met the "
                "goal and do not count, because a lower one did not"
            )
        return notes

    def _why_irregular(self) -> str:
        if self.bounds.upper_pps is None:
            return "no load is an upper bound"
        if self.lower_pps is None:
            return "no load is a lower bound"
        return "the bounds are further apart than the goal's width"


def _failures(failed_pps: list[float]) -> list[str]:
    if not failed_pps:
        return []
    span = " down to ".join(dict.fromkeys(map(format_pps, (failed_pps[0], failed_pps[-1]))))
    return [f"{len(failed_pps)} validations failed, at {span}"]


def _or_none(pps: float | None) -> str:
    return "none" if pps is None else format_pps(pps)
