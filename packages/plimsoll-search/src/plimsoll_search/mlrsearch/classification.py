"""Loads classified by their trials, relevant bounds and conditional throughput: RFC 9971."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from ..strategy.ask import Ask, Told
from .goal import Goal


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial that the tester could judge.

    `duration_s` is RFC 9971's trial duration and its trial effective duration alike: the
    time for which frames were to be sent. A trial that ended early, because its verdict
    could no longer change, counts for all of it. `high_loss` is the goal's verdict: the RFC
    knows loss alone, here whatever breaks one of the goal's criteria is as bad as loss.
    `loss_ratio` is over all directions, without what stalls of the tester explain.
    """

    duration_s: float
    high_loss: bool
    loss_ratio: float


def result_for(goal: str, asked: Ask, told: Told) -> TrialResult | None:
    """The trial as this goal sees it; None where its criteria could not be judged."""
    verdict = told.verdicts.get(goal, "invalid")
    if verdict == "invalid":
        return None
    evidence = told.evidence
    loss_ratio = evidence.lost / evidence.offered if evidence.offered else 0.0
    return TrialResult(asked.duration_s, verdict == "fail", loss_ratio)


LoadClass = Literal["lower", "upper", "undecided"]


@dataclass(frozen=True, slots=True)
class DurationSums:
    """Seconds of trials at one load: full-length or short for a goal, low-loss or high-loss."""

    full_low_s: float = 0.0
    full_high_s: float = 0.0
    short_low_s: float = 0.0
    short_high_s: float = 0.0

    @classmethod
    def of(cls, trials: Iterable[TrialResult], final_duration_s: float) -> Self:
        """The sums over all trials at one load."""
        seconds = {(full, high): 0.0 for full in (True, False) for high in (True, False)}
        for trial in trials:
            seconds[trial.duration_s >= final_duration_s, trial.high_loss] += trial.duration_s
        return cls(
            full_low_s=seconds[True, False],
            full_high_s=seconds[True, True],
            short_low_s=seconds[False, False],
            short_high_s=seconds[False, True],
        )


def classify(goal: Goal, trials: Iterable[TrialResult]) -> LoadClass:
    """What the trials at one load make of it.

    A lower bound is one that stays within the exceed ratio even if all that is missing of
    the duration sum turned out high-loss; an upper bound one that exceeds it even if none
    of it did.
    """
    sums = DurationSums.of(trials, goal.final_duration_s)
    # Short low-loss trials prove nothing, but they outweigh short high-loss ones.
    balancing_s = sums.short_low_s * goal.exceed_ratio / (1 - goal.exceed_ratio)
    high_s = sums.full_high_s + max(0.0, sums.short_high_s - balancing_s)
    measured_s = sums.full_low_s + high_s
    whole_s = max(measured_s, goal.duration_sum_s)
    allowed_s = whole_s * goal.exceed_ratio
    if high_s > allowed_s:
        return "upper"
    # Not whole less full_low: rounding could leave a load undecided that misses nothing.
    return "lower" if high_s + (whole_s - measured_s) <= allowed_s else "undecided"


@dataclass(frozen=True, slots=True)
class RelevantBounds:
    """The lowest upper bound, and the highest lower bound below it, in pps.

    Without an upper bound the RFC knows no relevant lower bound either; here it is then
    the highest lower bound, which the RFC lets be told of an irregular result.
    `inversions` are the lower bounds above the upper one, from the lowest up: loads that
    are not believed, because a lower one failed.
    """

    lower_pps: float | None
    upper_pps: float | None
    inversions: tuple[float, ...] = ()


def relevant_bounds(classes: Mapping[float, LoadClass]) -> RelevantBounds:
    """The bounds among loads in pps, by what each was classified as."""
    lowers = sorted(load for load, found in classes.items() if found == "lower")
    upper = min((load for load, found in classes.items() if found == "upper"), default=None)
    believed = [load for load in lowers if upper is None or load < upper]
    return RelevantBounds(
        lower_pps=believed[-1] if believed else None,
        upper_pps=upper,
        inversions=tuple(lowers[len(believed) :]),
    )


def conditional_throughput(goal: Goal, load_pps: float, trials: Iterable[TrialResult]) -> float:
    """The forwarding rate in pps that the load's full-length trials reach but for the exceed ratio.

    A quantile by duration, the least lossy trials first; what is missing of the duration
    sum counts as if all of it were lost. At a lower bound the trial that decides is always
    a low-loss one. A trial that failed by something other than loss comes after all that
    passed, or it could be the one that decides.
    """
    full = [trial for trial in trials if trial.duration_s >= goal.final_duration_s]
    full.sort(key=lambda trial: (trial.high_loss, trial.loss_ratio))
    lengths_s = [trial.duration_s for trial in full]
    needed_s = max(goal.duration_sum_s, math.fsum(lengths_s)) * (1 - goal.exceed_ratio)
    for count, trial in enumerate(full, 1):
        # Summed as the whole was: rounding must not leave a rest of what is all there.
        if math.fsum(lengths_s[:count]) >= needed_s:
            return load_pps * (1 - trial.loss_ratio)
    return 0.0


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
