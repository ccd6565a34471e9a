"""The load-line search as ask and tell: every goal's hunt in turn, on shared knowledge."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..strategy.ask import Ask, Finished, GoalEnd, Told
from ..strategy.question import UntestableStreak, reach_of
from .goal_hunt import Choice, GoalHunt
from .knowledge import Knowledge
from .plan import Budget, LoadLinePlan
from .tried import Tried


class LoadLineSearch:
    """Finds the load line of each goal; docs/load-line.md has the reasoning.

    `reasons` says of every trial asked for by which rule it was chosen, and why.
    """

    def __init__(self, plan: LoadLinePlan) -> None:
        self._plan = plan
        self._knowledge = Knowledge(plan)
        self._hunts = [GoalHunt(goal, self._knowledge) for goal in plan.goals]
        self._trials = 0
        self._invalid_in_a_row = 0
        self._patience = UntestableStreak()
        self._budget = Budget(plan)
        self._ends: dict[str, GoalEnd] = {}
        self._rules: Counter[str] = Counter()
        self.reasons: list[str] = []
        self._next: Ask | Finished = self._choose()

    def ask(self) -> Ask | Finished:
        """The next trial, or the end; the same answer until `tell` is called."""
        return self._next

    def tell(self, told: Told) -> None:
        """What came of the trial asked for. Raises RuntimeError when none was."""
        asked = self._next
        if isinstance(asked, Finished):
            raise RuntimeError("a trial was told to a search that has finished")
        self._trials += 1
        self._budget.spend(told)
        if told.verdict(asked.goal) == "invalid":
            reach_pps = reach_of(asked, told, self._plan.minimum_pps)
            self._next = (
                self._after_invalid(asked)
                if reach_pps is None
                else self._after_ceiling(asked, reach_pps)
            )
            return
        self._invalid_in_a_row = 0
        self._patience.renew()
        tried = Tried(asked, told)
        self._knowledge.learn(tried)
        for hunt in self._hunts:
            hunt.record.learn(tried, self._trials)
        self._next = self._choose()

    def _after_invalid(self, asked: Ask) -> Ask | Finished:
        self._invalid_in_a_row += 1
        validation = asked.phase == "validation"
        retries = self._plan.validation_retries if validation else self._plan.retries
        if self._invalid_in_a_row <= retries:
            return replace(asked, attempt=self._invalid_in_a_row + 1)
        self._invalid_in_a_row = 0
        at_minimum = asked.load_pps <= self._plan.minimum_pps
        for hunt in self._hunts:
            # No goal's criteria make a difference to what cannot be tested at the minimum.
            if hunt.name == asked.goal or at_minimum:
                hunt.record.could_not_test(asked, self._trials)
        return self._go_on(asked)

    def _after_ceiling(self, asked: Ask, reach_pps: float) -> Ask | Finished:
        """What the tester cannot offer for one goal it cannot offer for any."""
        self._invalid_in_a_row = 0
        for hunt in self._hunts:
            hunt.record.bracket.limit_to(reach_pps)
        return self._go_on(asked)

    def _go_on(self, asked: Ask) -> Ask | Finished:
        """After another load that could not be tested."""
        if self._patience.lasts():
            return self._choose()
        self._patience.renew()
        bracket = self._hunt_for(asked).record.bracket
        if bracket.lower_pps is not None:
            bracket.limit_to(bracket.lower_pps)
        elif asked.load_pps > self._plan.minimum_pps:
            return self._asking(self._hunt_for(asked).try_minimum())
        return self._choose()

    def _hunt_for(self, asked: Ask) -> GoalHunt:
        return next(each for each in self._hunts if each.name == asked.goal)

    def _choose(self) -> Ask | Finished:
        """The first goal that is not at its end says what to do."""
        for hunt in self._hunts:
            if hunt.name in self._ends:
                continue
            choice = hunt.next()
            if isinstance(choice, Choice) and not self._fits(hunt, choice):
                choice = hunt.without_more_time(self._budget)
            if isinstance(choice, Choice):
                return self._asking(choice)
            self._ends[hunt.name] = self._with_rules(choice)
        return Finished(tuple(self._ends.values()))

    def _fits(self, hunt: GoalHunt, choice: Choice) -> bool:
        return self._budget.allows(choice.ask, has_proof=bool(hunt.record.proved))

    def _asking(self, choice: Choice) -> Ask:
        self._rules[choice.rule] += 1
        self.reasons.append(f"{choice.rule}: {choice.why}")
        return choice.ask

    def _with_rules(self, end: GoalEnd) -> GoalEnd:
        """With the rules by which the trials so far were chosen."""
        chosen = ", ".join(f"{rule} {times}" for rule, times in self._rules.items())
        return replace(end, notes=(*end.notes, f"Trials by rule: {chosen}."))
