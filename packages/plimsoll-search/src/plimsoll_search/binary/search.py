"""Bisection for the highest load that passes, then its validation; or one load, validated.

Unlike trafficgen's binary search, the load that is validated is always one that
a search trial passed, never an untested midpoint.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..strategy.ask import ONLY_GOAL, Ask, Finished, GoalEnd, Told
from ..strategy.question import (
    Answer,
    Question,
    TrialPolicy,
    UntestableStreak,
    reach_of,
    why_quit,
    why_unproven,
    why_untestable,
)
from ..text.units import format_pps
from .bounds import BinaryPlan, Bounds


class BinarySearch:
    """A binary search as ask and tell.

    Only a load that passed a search trial is validated. A failed validation bars its
    load, and each candidate below is then validated as soon as it has passed a search
    trial, because short trials have shown to tell too little. A load whose trials stay
    invalid is a ceiling: the search goes on below, and a load line found there is limited
    by the tester; tester_reach says when a trial is not even repeated. A validation that
    stays invalid ends the search, because there the tester's noise, not the load, is the
    matter. A sniff trial settles a load only by failing.
    """

    def __init__(self, plan: BinaryPlan) -> None:
        self._plan = plan
        self._bounds = Bounds(plan, reach_pps=plan.reach_pps)
        self._patience = UntestableStreak()
        self._next: Question | Finished = self._continue()

    @property
    def bounds(self) -> Bounds:
        """What is known of the loads so far."""
        return self._bounds

    def ask(self) -> Ask | Finished:
        """The next trial, or the end; the same answer until `tell` is called."""
        return self._next if isinstance(self._next, Finished) else self._next.ask()

    def tell(self, told: Told) -> None:
        """Take what came of the trial asked for."""
        question = self._next
        if isinstance(question, Finished):
            raise RuntimeError("a verdict was told to a search that has finished")
        reach_pps = reach_of(question.ask(), told, self._plan.minimum_pps)
        if reach_pps is not None and question.policy.goes_below("offered-rate"):
            self._next = self._after_ceiling(reach_pps)
            return
        came = question.told(told)
        if isinstance(came, Question):
            self._next = came
        elif question.policy.phase == "sniff" and came != "fail":
            self._next = Question(self._plan.search, question.load_pps)
        else:
            self._next = self._after(question, came, told.rules.get(question.ask().goal, ()))

    def _after(
        self, question: Question, answer: Answer, rules: Sequence[str]
    ) -> Question | Finished:
        phase, load_pps = question.policy.phase, question.load_pps
        match answer:
            case "quit":
                return self._end_untested(load_pps, why_quit(load_pps, rules))
            case "untestable" if phase == "validation":
                return self._end_untested(load_pps, why_unproven(question))
            case "untestable":
                return self._after_untestable(load_pps)
            case "pass":
                self._bounds = self._bounds.after_pass(phase, load_pps)
            case "fail":
                self._bounds = self._bounds.after_fail(phase, load_pps)
        self._patience.renew()
        return self._continue()

    def _after_ceiling(self, reach_pps: float) -> Question | Finished:
        self._bounds = self._bounds.after_ceiling(reach_pps)
        return self._continue() if self._patience.lasts() else self._settle()

    def _after_untestable(self, load_pps: float) -> Question | Finished:
        self._bounds = self._bounds.after_untestable(load_pps)
        return self._continue() if self._patience.lasts() else self._settle()

    def _settle(self) -> Question | Finished:
        """Prove what has passed by now; where nothing has, try the minimum."""
        self._patience.renew()
        if self._bounds.validated_pps is not None:
            return self._end("the loads above it could not be tested")
        if (lower := self._bounds.lower_pps) is not None:
            return Question(self._plan.validation, lower)
        if self._bounds.ceiling_pps == self._plan.minimum_pps:
            return self._continue()
        return Question(self._plan.sniff or self._plan.search, self._plan.minimum_pps)

    def _continue(self) -> Question | Finished:
        step = self._bounds.next_step()
        if step is None:
            return self._end(None)
        phase, load_pps = step
        if phase == "validation":
            return Question(self._plan.validation, load_pps)
        return Question(self._plan.sniff or self._plan.search, load_pps)

    def _end_untested(self, load_pps: float, reason: str) -> Finished:
        self._bounds = self._bounds.after_untestable(load_pps)
        return self._end(reason)

    def _end(self, why_over: str | None) -> Finished:
        """With what is validated by now; `why_over` where there was more to find out."""
        found = self._bounds.validated_pps
        if found is None:
            return Finished.only(None, why_over or self._why_nothing())
        end = GoalEnd(
            ONLY_GOAL,
            found,
            "passed search and validation",
            self._bounds.limited_by(),
            notes=() if why_over is None else (why_over,),
        )
        return Finished((end,))

    def _why_nothing(self) -> str:
        """What barred the minimum."""
        at_minimum = f"even at the minimum, {format_pps(self._plan.minimum_pps)}"
        if self._bounds.ceiling_pps == self._plan.minimum_pps:
            return why_untestable(self._plan.minimum_pps)
        if self._bounds.failed_in == "validation":
            return f"no load passed both search and validation; {at_minimum}, validation failed"
        return f"{at_minimum}, no trial passed"


class OneShot:
    """Says whether a load holds, as ask and tell."""

    def __init__(self, validation: TrialPolicy, load_pps: float) -> None:
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
        if reach_pps is not None and question.policy.goes_below("offered-rate"):
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
