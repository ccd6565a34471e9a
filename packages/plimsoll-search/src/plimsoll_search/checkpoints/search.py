"""A list of loads, each measured, as a curve; then validation of the best where asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..strategy.ask import ONLY_GOAL, Ask, Finished, GoalEnd, LimitedBy, Told
from ..strategy.question import Answer, Question, TrialPolicy, reach_of, why_unproven
from ..text.units import format_pps

_UNTESTABLE: Answer = "untestable"


@dataclass(frozen=True, slots=True)
class Curve:
    """The loads, ascending, the answers of those measured, and the validations that failed."""

    loads_pps: tuple[float, ...]
    answers: dict[float, Answer] = field(default_factory=dict)
    disproved: tuple[float, ...] = ()

    def measured(self, load_pps: float, answer: Answer) -> Curve:
        """With the answer of one more."""
        return replace(self, answers={**self.answers, load_pps: answer})

    def above_is_untestable(self, reach_pps: float) -> Curve:
        """With what the tester cannot offer, whatever was found there before."""
        above = {load: _UNTESTABLE for load in self.loads_pps if load > reach_pps}
        return replace(self, answers={**self.answers, **above})

    def without(self, load_pps: float) -> Curve:
        """After a failed validation."""
        return replace(self, disproved=(*self.disproved, load_pps))

    @property
    def ahead_pps(self) -> float | None:
        """The lowest load that is still to be measured."""
        return next((load for load in self.loads_pps if load not in self.answers), None)

    @property
    def best_pps(self) -> float | None:
        """The highest load below the first that did not pass, of those not disproved."""
        first = self._first_not_passed()
        below = [load for load in self.loads_pps if first is None or load < first]
        return max((load for load in below if load not in self.disproved), default=None)

    @property
    def limited_by(self) -> LimitedBy:
        """What kept the best from being higher."""
        first = self._first_not_passed()
        if first is None and not self.disproved:
            return "maximum"
        return "dut" if self.disproved or self._did(first, "fail") else "tester"

    @property
    def why_nothing(self) -> str:
        """Why there is no best, in a sentence."""
        if self.disproved:
            return "no load passed both its checkpoint and validation"
        lowest = self.loads_pps[0]
        outcome = "failed" if self._did(lowest, "fail") else "could not be tested"
        return f"the lowest checkpoint, {format_pps(lowest)}, {outcome}"

    @property
    def irregularity(self) -> str | None:
        """A load that failed beneath others that passed, in a sentence; None where none did."""
        lowest_failed = next((load for load in self.loads_pps if self._did(load, "fail")), None)
        if lowest_failed is None:
            return None
        above = [load for load in self.loads_pps if load > lowest_failed]
        passed = [load for load in above if self._did(load, "pass")]
        if not passed:
            return None
        return f"{format_pps(lowest_failed)} failed, though {_listed(passed)} passed"

    def _first_not_passed(self) -> float | None:
        return next((load for load in self.loads_pps if not self._did(load, "pass")), None)

    def _did(self, load_pps: float | None, answer: Answer) -> bool:
        return load_pps is not None and self.answers.get(load_pps) == answer


def _listed(loads_pps: Iterable[float]) -> str:
    return ", ".join(format_pps(load) for load in loads_pps)


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """CheckpointSettings with every load in pps: ascending, each once, never none.

    Without `validation` a checkpoint's own trials decide. `reach_pps` is the highest load
    that the tester can offer, None where it is not known to be below one of them.
    """

    loads_pps: tuple[float, ...]
    checkpoint: TrialPolicy
    validation: TrialPolicy | None
    reach_pps: float | None = None


class CheckpointSearch:
    """Every checkpoint in turn, from the lowest up, whatever came of those before.

    The load line is the highest checkpoint below the first that did not pass. With a
    validation it has to pass that too; else the next lower one has to, and so on. A
    validation that stays invalid ends the search. Checkpoints above what the tester can
    offer are not tried; the lowest always is.
    """

    def __init__(self, plan: CheckpointPlan) -> None:
        self._plan = plan
        curve = Curve(plan.loads_pps)
        reach_pps = plan.reach_pps
        self._curve = curve if reach_pps is None else curve.above_is_untestable(reach_pps)
        self._next = self._continue()

    def ask(self) -> Ask | Finished:
        """The next trial, or the end; the same answer until `tell` is called."""
        return self._next if isinstance(self._next, Finished) else self._next.ask()

    def tell(self, told: Told) -> None:
        """Take what came of the trial asked for."""
        question = self._next
        if isinstance(question, Finished):
            raise RuntimeError("a verdict was told to a search that has finished")
        reach_pps = reach_of(question.ask(), told, self._plan.loads_pps[0])
        if reach_pps is not None:
            self._curve = self._curve.above_is_untestable(reach_pps)
            self._next = self._continue()
            return
        came = question.told(told)
        if isinstance(came, Question):
            self._next = came
        elif question.policy.phase == "validation":
            self._next = self._after_validation(question, came)
        else:
            self._curve = self._curve.measured(question.load_pps, came)
            self._next = self._continue()

    def _continue(self) -> Question | Finished:
        ahead = self._curve.ahead_pps
        if ahead is not None:
            return Question(self._plan.checkpoint, ahead)
        best = self._curve.best_pps
        if best is None:
            return self._end(None, self._curve.why_nothing)
        if self._plan.validation is None:
            return self._end(best, "passed its checkpoint; no validation was asked for")
        return Question(self._plan.validation, best)

    def _after_validation(self, question: Question, answer: Answer) -> Question | Finished:
        match answer:
            case "pass":
                return self._end(question.load_pps, "passed its checkpoint and validation")
            case "fail":
                self._curve = self._curve.without(question.load_pps)
                return self._continue()
            case _:
                return self._end(None, why_unproven(question))

    def _end(self, load_line_pps: float | None, reason: str) -> Finished:
        irregularity = self._curve.irregularity
        end = GoalEnd(
            ONLY_GOAL,
            load_line_pps,
            reason,
            limited_by=None if load_line_pps is None else self._curve.limited_by,
            proved_by="search" if self._plan.validation is None else "validation",
            irregular=irregularity is not None,
            notes=() if irregularity is None else (irregularity,),
        )
        return Finished((end,))
