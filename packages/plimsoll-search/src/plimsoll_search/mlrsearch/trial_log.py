"""All trials of a search by load, and what they make of the loads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..strategy.ask import Ask, Told
from .bounds import RelevantBounds, relevant_bounds
from .classification import LoadClass, classify
from .goal import Goal
from .trial_result import TrialResult, result_for


class TrialLog:
    """The trials as each of the goals sees them: every trial counts for every goal."""

    def __init__(self, goals: Iterable[str]) -> None:
        self._trials: dict[str, dict[float, list[TrialResult]]] = {goal: {} for goal in goals}
        # Classifying is most of a search's work, and a trial changes but one load's class.
        self._classes: dict[Goal, dict[float, LoadClass]] = {}

    def add(self, asked: Ask, told: Told) -> None:
        """Take in a trial, for each goal that could judge it."""
        for goal, by_load in self._trials.items():
            result = result_for(goal, asked, told)
            if result is not None:
                by_load.setdefault(asked.load_pps, []).append(result)
        for classes in self._classes.values():
            classes.pop(asked.load_pps, None)

    def loads(self, goal: Goal) -> list[float]:
        """Every load that has a trial for this goal, from the lowest up, in pps."""
        return sorted(self._trials[goal.name])

    def at(self, goal: Goal, load_pps: float) -> Sequence[TrialResult]:
        """The trials at one load, in the order in which they were made."""
        return self._trials[goal.name].get(load_pps, [])

    def classes(self, goal: Goal) -> dict[float, LoadClass]:
        """By load, from the lowest up, what this goal, or a coarser one of it, makes of it."""
        known = self._classes.setdefault(goal, {})
        for load in self._trials[goal.name]:
            if load not in known:
                known[load] = classify(goal, self.at(goal, load))
        return dict(sorted(known.items()))

    def bounds(self, goal: Goal) -> RelevantBounds:
        """The relevant bounds so far."""
        return relevant_bounds(self.classes(goal))
