"""Multiple Loss Ratio search (RFC 9971) as ask and tell."""

from __future__ import annotations

from dataclasses import dataclass, replace

from plimsoll.record.results.goal_end import GoalEnd
from plimsoll.search.mlrsearch.candidate import next_load, open_interval
from plimsoll.search.mlrsearch.goal import Goal, stages_of
from plimsoll.search.mlrsearch.goal_result import GoalResult
from plimsoll.search.mlrsearch.plan import MlrPlan
from plimsoll.search.mlrsearch.proof import Proof
from plimsoll.search.mlrsearch.trial_log import TrialLog
from plimsoll.search.strategy.ask import Ask, Finished, Told
from plimsoll.search.strategy.tester_reach import Patience, reach_of, why_untestable
from plimsoll.text.units import format_pps

# What a trial is asked for: goal, load in pps and duration in s.
_Question = tuple[str, float, float]


def _question(asked: Ask) -> _Question:
    return asked.goal, asked.load_pps, asked.duration_s


@dataclass(frozen=True, slots=True)
class _Focus:
    """A load that a goal, or one of its coarser stages, wants tried."""

    goal: Goal
    stage: Goal
    depth: int
    load_pps: float

    @property
    def order(self) -> tuple[float, int, float]:
        """Short trials first, as they tell long ones where to look; then low loads.

        An upper bound found at a low load undoes what was found above it, so low loads
        are better known first (RFC 9971, "Consequences").
        """
        return (self.stage.final_duration_s, self.depth, self.load_pps)


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
        self._log = TrialLog(goal.name for goal in plan.goals)
        self._asked_at: dict[tuple[float, float], int] = {}
        # By question, its invalid trials since the last valid one.
        self._invalid: dict[_Question, int] = {}
        self._patience = Patience()
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
        wanted = [focus for goal in self._plan.goals if (focus := self._focus(goal))]
        if not wanted:
            return self._prove()
        focus = min(wanted, key=lambda focus: focus.order)
        duration_s = focus.stage.final_duration_s
        invalid = self._invalid.get((focus.goal.name, focus.load_pps, duration_s), 0)
        return Ask(
            "search",
            focus.load_pps,
            duration_s,
            attempt=invalid + 1,
            goal=focus.goal.name,
            repetition=self._asked_at.get((focus.load_pps, duration_s), 0) + 1,
            # Cut short for one goal, a trial would tell the others something else.
            early_abort=self._plan.early_abort and len(self._plan.goals) == 1,
        )

    def _focus(self, goal: Goal) -> _Focus | None:
        """What the first stage that lacks something wants; None when the goal is reached."""
        coarser = None
        for depth, stage in enumerate(self._stages[goal]):
            load = next_load(stage, coarser, self._log, self._span)
            if load is not None:
                return _Focus(goal, stage, depth, load)
            coarser = stage
        return None

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
            result = GoalResult.of(self._plan.goals[len(self._ends)], self._log, self._span)
            if self._proof is None:
                self._proof = self._begin_proof(result)
            if self._proof is not None and (asked := self._proof.ask()):
                return asked
            self._ends.append(self._end(result))
            self._proof = None
        return Finished(tuple(self._ends))

    def _begin_proof(self, result: GoalResult) -> Proof | None:
        if self._plan.validation is None or result.conditional_pps is None:
            return None
        return Proof(
            result.goal.name,
            result.conditional_pps,
            self._span.minimum_pps,
            self._plan.validation,
        )

    def _end(self, result: GoalResult) -> GoalEnd:
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
