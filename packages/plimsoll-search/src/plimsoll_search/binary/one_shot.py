"""One load, validated, and no search."""

from __future__ import annotations

from ..strategy.ask import Ask, Finished, Told
from ..strategy.question import (
    Answer,
    Question,
    TrialManner,
    why_quit,
    why_unproven,
)
from ..strategy.tester_reach import reach_of
from ..text.units import format_pps


class OneShot:
    """Says whether a load holds, as ask and tell."""

    def __init__(self, validation: TrialManner, load_pps: float) -> None:
        self._next: Question | Finished = Question(validation, load_pps)

    def ask(self) -> Ask | Finished:
        """The next trial, or the end; the same answer until `tell` is called."""
        return self._next if isinstance(self._next, Finished) else self._next.ask()

    def tell(self, told: Told) -> None:
        """Take what came of the trial asked for."""
        question = self._next
        if isinstance(question, Finished):
            raise RuntimeError("a verdict was told to a search that has finished")
        reach_pps = reach_of(question.ask(), told, 0.0)
        if reach_pps is not None and question.manner.goes_below("offered-rate"):
            self._next = Finished.only(None, _why_beyond_reach(question.load_pps, reach_pps))
            return
        came = question.told(told)
        if isinstance(came, Question):
            self._next = came
        else:
            self._next = _end(question, came, told.rules.get(question.ask().goal, ()))


def _why_beyond_reach(load_pps: float, reach_pps: float) -> str:
    return (
        f"the one load asked for, {format_pps(load_pps)}, is more than the tester can offer, "
        f"which is {format_pps(reach_pps)}"
    )


def _end(question: Question, answer: Answer, rules: tuple[str, ...]) -> Finished:
    load_pps = question.load_pps
    match answer:
        case "pass":
            return Finished.only(load_pps, "the one load asked for passed validation", "maximum")
        case "fail":
            failed = f"the one load asked for, {format_pps(load_pps)}, failed validation"
            return Finished.only(None, failed)
        case "quit":
            return Finished.only(None, why_quit(load_pps, rules))
        case "untestable":
            return Finished.only(None, why_unproven(question))
