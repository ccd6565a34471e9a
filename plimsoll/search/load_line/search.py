"""The load-line search as ask and tell: every goal's hunt in turn, on shared knowledge."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from plimsoll.search.ask import Ask, Finished, GoalEnd, Told
from plimsoll.search.load_line.goal_hunt import Choice, GoalHunt
from plimsoll.search.load_line.knowledge import Knowledge
from plimsoll.search.load_line.plan import LoadLinePlan
from plimsoll.search.load_line.tried import Tried

# So many loads in a row that cannot be tested are not about the load.
_HOPELESS = 4


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
        self._untestable_in_a_row = 0
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
        if told.verdict(asked.goal) == "invalid":
            self._next = self._after_invalid(asked)
            return
        self._invalid_in_a_row = self._untestable_in_a_row = 0
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
        self._untestable_in_a_row += 1
        if self._untestable_in_a_row >= _HOPELESS:
            return self._hopeless()
        hunt = next(each for each in self._hunts if each.name == asked.goal)
        hunt.record.could_not_test(asked, self._trials)
        return self._choose()

    def _hopeless(self) -> Finished:
        reason = f"{_HOPELESS} trials in a row could not be tested: this tester cannot test here"
        for hunt in self._hunts:
            self._ends.setdefault(hunt.name, GoalEnd(hunt.name, None, reason))
        return Finished(tuple(self._ends.values()))

    def _choose(self) -> Ask | Finished:
        """The first goal that is not at its end says what to do."""
        for hunt in self._hunts:
            if hunt.name in self._ends:
                continue
            choice = hunt.next()
            if isinstance(choice, Choice):
                self._rules[choice.rule] += 1
                self.reasons.append(f"{choice.rule}: {choice.why}")
                return choice.ask
            self._ends[hunt.name] = self._with_rules(choice)
        return Finished(tuple(self._ends.values()))

    def _with_rules(self, end: GoalEnd) -> GoalEnd:
        """With the rules by which the trials so far were chosen."""
        chosen = ", ".join(f"{rule} {times}" for rule, times in self._rules.items())
        return replace(end, notes=(*end.notes, f"Trials by rule: {chosen}."))
