"""A list of loads, each measured, as a curve; then validation of the best where asked."""

from __future__ import annotations

from ..strategy.ask import ONLY_GOAL, Ask, Finished, GoalEnd, Told
from ..strategy.question import Answer, Question, why_unproven
from ..strategy.tester_reach import reach_of
from .curve import Curve
from .plan import CheckpointPlan


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
        elif question.manner.phase == "validation":
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
