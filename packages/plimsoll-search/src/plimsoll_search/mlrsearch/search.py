"""Multiple Loss Ratio search (RFC 9971) as ask and tell."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..strategy.ask import Ask, Finished, Told
from ..strategy.goal_end import GoalEnd
from ..strategy.question import UntestableStreak, reach_of, why_untestable
from ..text.units import format_pps
from .candidate import Hint, LoadGrid, next_load, open_interval
from .classification import TrialLog
from .goal import Goal, LoadSpan, MlrPlan, stages_of
from .goal_result import GoalBounds, Proof
from .opening import Opening

# What a trial is asked for: goal, load in pps and duration in s.
_Question = tuple[str, float, float]


def _question(asked: Ask) -> _Question:
    return asked.goal, asked.load_pps, asked.duration_s


@dataclass(frozen=True, slots=True)
class _Focus:
    """A load that a goal, or one of its coarser stages, wants tried."""

    goal: str
    load_pps: float
    duration_s: float

    @property
    def order(self) -> tuple[float, float]:
        """Low loads first: an upper bound found there undoes what was found above it.

        (RFC 9971, "Consequences"; the authors' library goes so, too.) At one load long
        trials come first, as they make short ones superfluous.
        """
        return (self.load_pps, -self.duration_s)


@dataclass(slots=True)
class _Descent:
    """How far one goal has come from stage to finer stage, and the bounds of the one before.

    It never goes back: a coarse bound that longer trials belie is not asked for again.
    """

    stages: tuple[Goal, ...]
    hint: Hint
    depth: int = 0

    def focus(self, log: TrialLog, span: LoadSpan, grid: LoadGrid) -> _Focus | None:
        """What the first stage that lacks something wants; None when the goal is reached."""
        while True:
            stage = self.stages[self.depth]
            load = next_load(stage, self.hint, log, span, grid)
            if load is not None:
                return _Focus(stage.name, load, stage.final_duration_s)
            if stage is self.stages[-1]:
                return None
            interval = open_interval(stage, log, span)
            self.hint = Hint(interval.lower_pps, interval.barrier_pps)
            self.depth += 1


class MlrSearch:
    """Searches for all goals at once, then validates what was found for each in turn.

    Every trial counts for every goal. An invalid trial moves no bound of the goal that
    asked for it: it is asked for again, though another goal that could judge it may want
    something else first. After `retries` more the load is the ceiling: the tester cannot
    test it, so every goal's search goes on below. tester_reach says when a trial is not even
    asked for again.
    """

    def __init__(self, plan: MlrPlan) -> None:
        self._plan = plan
        self._span = plan.span
        self._stages = {goal: stages_of(goal) for goal in plan.goals}
        self._grid = LoadGrid.for_goals(plan.span.minimum_pps, plan.goals)
        self._opening = Opening([stages[0] for stages in self._stages.values()], self._grid)
        self._descents: list[_Descent] = []
        self._log = TrialLog(goal.name for goal in plan.goals)
        self._asked_at: dict[tuple[float, float], int] = {}
        # By question, its invalid trials since the last valid one.
        self._invalid: dict[_Question, int] = {}
        self._patience = UntestableStreak()
        self._ends: list[GoalEnd] = []
        self._proof: Proof | None = None
        self._next: Ask | Finished = self._explore()

    @property
    def log(self) -> TrialLog:
        """The search trials so far."""
        return self._log

    def ask(self) -> Ask | Finished:
        """The next trial, or the end; the same answer until `tell` is called."""
        return self._next

    def tell(self, told: Told) -> None:
        """Take what came of the trial asked for."""
        asked = self._next
        if isinstance(asked, Finished):
            raise RuntimeError("a verdict was told to a search that has finished")
        reach_pps = reach_of(asked, told, self._span.minimum_pps)
        if self._proof is not None:
            if reach_pps is None:
                self._proof.tell(told.verdict(asked.goal))
            else:
                self._proof.lower_to(reach_pps)
            self._next = self._prove()
            return
        self._log.add(asked, told)
        if told.verdict(asked.goal) == "invalid":
            self._next = self._after_invalid(asked, reach_pps)
            return
        self._invalid.pop(_question(asked), None)
        self._patience.renew()
        self._span = replace(self._span, only_minimum=False)
        trial = (asked.load_pps, asked.duration_s)
        self._asked_at[trial] = self._asked_at.get(trial, 0) + 1
        self._next = self._explore()

    def _explore(self) -> Ask | Finished:
        """The trial that the most urgent goal wants; without one, validation begins."""
        focus = self._focus()
        if focus is None:
            return self._prove()
        invalid = self._invalid.get((focus.goal, focus.load_pps, focus.duration_s), 0)
        return Ask(
            "search",
            focus.load_pps,
            focus.duration_s,
            attempt=invalid + 1,
            goal=focus.goal,
            repetition=self._asked_at.get((focus.load_pps, focus.duration_s), 0) + 1,
            # Cut short for one goal, a trial would tell the others something else.
            early_abort=self._plan.early_abort and len(self._plan.goals) == 1,
        )

    def _focus(self) -> _Focus | None:
        """The first trials, then what the goals want; None when all are reached."""
        if not self._descents:
            load = self._opening.next_load(self._log, self._span)
            if load is not None:
                goal = self._opening.goal
                return _Focus(goal.name, load, goal.final_duration_s)
            hint = self._opening.hint
            self._descents = [_Descent(stages, hint) for stages in self._stages.values()]
        wanted = (each.focus(self._log, self._span, self._grid) for each in self._descents)
        return min((each for each in wanted if each), key=lambda each: each.order, default=None)

    def _after_invalid(self, asked: Ask, reach_pps: float | None) -> Ask | Finished:
        if reach_pps is None and asked.attempt <= self._plan.retries:
            self._invalid[_question(asked)] = asked.attempt
            return self._explore()
        self._invalid.pop(_question(asked), None)
        if reach_pps is None:
            self._span = self._span.barred_at(asked.load_pps)
        else:
            self._span = self._span.limited_to(reach_pps)
        if not self._patience.lasts():
            self._settle()
        return self._explore()

    def _settle(self) -> None:
        """Nothing above the highest load that passed is asked for; none: the minimum is tried."""
        self._patience.renew()
        intervals = (
            open_interval(stage, self._log, self._span)
            for stages in self._stages.values()
            for stage in stages
        )
        held = [each.lower_pps for each in intervals if each.lower_pps is not None]
        if held:
            self._span = self._span.limited_to(max(held))
        else:
            self._span = replace(self._span, only_minimum=True)

    def _prove(self) -> Ask | Finished:
        """Validate goal after goal, until one's proof asks for a trial or all have ended."""
        while len(self._ends) < len(self._plan.goals):
            result = GoalBounds.of(self._plan.goals[len(self._ends)], self._log, self._span)
            if self._proof is None:
                self._proof = self._begin_proof(result)
            if self._proof is not None and (asked := self._proof.ask()):
                return asked
            self._ends.append(self._end(result))
            self._proof = None
        return Finished(tuple(self._ends))

    def _begin_proof(self, result: GoalBounds) -> Proof | None:
        if self._plan.validation is None or result.conditional_pps is None:
            return None
        return Proof(
            result.goal.name,
            result.conditional_pps,
            self._span.minimum_pps,
            self._plan.validation,
        )

    def _end(self, result: GoalBounds) -> GoalEnd:
        if result.lower_pps is None:
            return result.end(None, self._why_none(), None)
        if self._proof is None:
            return result.end(result.lower_pps, "is the relevant lower bound", None)
        return result.end(self._proof.passed_pps, self._proof.reason, self._proof)

    def _why_none(self) -> str:
        if self._span.ceiling_pps == self._span.minimum_pps:
            return why_untestable(self._span.minimum_pps)
        minimum = format_pps(self._span.minimum_pps)
        return f"even at the minimum, {minimum}, the goal was not met"
