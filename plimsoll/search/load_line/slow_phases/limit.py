"""The load that the DUT carries through its slow phases, or that sets off none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from plimsoll.search.load_line.knowledge import Knowledge
from plimsoll.search.load_line.limit import Limit
from plimsoll.search.load_line.plan import LoadLinePlan
from plimsoll.search.load_line.slow_phases.overlap import PhasesSeen
from plimsoll.search.load_line.slow_phases.seen import SlowPhases
from plimsoll.search.load_line.stalls.tail import SeenLengths, tail_beyond
from plimsoll.search.load_line.tried import Tried
from plimsoll.text.units import format_pps

# Closer together, what phases leave is what one kind of phase leaves.
_ALIKE = 0.01
# Between a load with phases and what they leave, so much is worth to be looked into.
_WORTH_LOOKING = 0.03
# Phases that come at random stay away for so many times their time by a chance of e^-4.
_LONG_ENOUGH = 4.0


def slow_phase_limit(knowledge: Knowledge) -> Limit | None:
    """What the slowest phase of a validation leaves; more where a higher load had none."""
    seen = knowledge.slow_phases()
    if not seen:
        return None
    left_pps = least_left_pps(knowledge, seen)
    free_pps = _free_pps(knowledge, seen)
    if free_pps is not None and free_pps > left_pps:
        text = (
            f"phases in which the DUT forwards only {format_pps(left_pps)}: they came at "
            f"{format_pps(_lowest_pps(seen))} and above, and not at {format_pps(free_pps)}"
        )
        return Limit(free_pps, "slow-phase", text)
    text = f"phases in which the DUT forwards only {format_pps(left_pps)}, whatever the load"
    return Limit(left_pps * (1.0 - knowledge.plan.width), "slow-phase", text)


def trigger_to_look_for(knowledge: Knowledge) -> tuple[float, float] | None:
    """At which load and for how many s to watch whether phases come there as well.

    Heat sets off phases that a lower load is free of; what comes from outside comes at any
    load. None where that is known, or not worth it.
    """
    seen = knowledge.slow_phases()
    if not seen:
        return None
    plan = knowledge.plan
    if _is_at_random(knowledge, seen):
        return None
    upper_pps = _lowest_pps(seen)
    lower_pps = max(least_left_pps(knowledge, seen), _free_pps(knowledge, seen) or 0.0)
    if upper_pps - lower_pps <= _WORTH_LOOKING * upper_pps:
        return None
    return (lower_pps + upper_pps) / 2, _long_enough_s(plan, seen)


def least_left_pps(knowledge: Knowledge, seen: Sequence[SlowPhases]) -> float:
    """What the slowest phase of a validation leaves, with the confidence asked for.

    Where phases differ, what they take of the capacity is foretold as the length of stalls is.
    """
    plan = knowledge.plan
    lefts = [left for each in seen for left in each.left_pps]
    least = min(lefts)
    if len(lefts) < 2 or max(lefts) - least <= _ALIKE * least:
        return _with_overlaps(knowledge, seen, least)
    capacity_pps = knowledge.capacity_pps()
    tail = tail_beyond([_taken(each, capacity_pps) for each in knowledge.watched_phases()])
    if tail is None:
        return least
    taken_pps = tail.length_s(plan.validation_s, plan.confidence)
    return max(plan.minimum_pps, capacity_pps - taken_pps)


def _with_overlaps(knowledge: Knowledge, seen: Sequence[SlowPhases], left_pps: float) -> float:
    """What is left where phases of one kind come on top of each other."""
    plan, capacity_pps = knowledge.plan, knowledge.capacity_pps()
    watched_s = sum(
        tried.evidence.sending_s for tried in knowledge.carried() if tried.load_pps > left_pps
    )
    runs_s = [length_s for each in seen for length_s in _runs_s(knowledge, each.tried)]
    phases = PhasesSeen(len(runs_s), fmean(runs_s), max(watched_s, sum(runs_s)))
    at_once = phases.at_once(plan.validation_s, plan.confidence)
    share = min(1.0, left_pps / capacity_pps)
    return max(plan.minimum_pps, capacity_pps * share**at_once)


def _runs_s(knowledge: Knowledge, tried: Tried) -> list[float]:
    """How long each phase of a trial was; one that the trial did not see end, a study at least."""
    runs_s: list[float] = []
    end_s = -math.inf
    for loss in tried.evidence.losses:
        if loss.begin_s - end_s > tried.interval_s / 2:
            runs_s.append(0.0)
        runs_s[-1] += loss.end_s - loss.begin_s
        end_s = loss.end_s
    if knowledge.slowed_suddenly(tried) and tried.asked.early_abort:
        runs_s[-1] = max(runs_s[-1], knowledge.plan.study_s)
    return runs_s


def _taken(seen: SlowPhases, capacity_pps: float) -> SeenLengths:
    """What phases took of the capacity; those that left enough for the load were not seen."""
    evidence = seen.tried.evidence
    taken = tuple(capacity_pps - left for left in seen.left_pps if left < capacity_pps)
    unseen = max(0.0, capacity_pps - seen.tried.load_pps)
    return SeenLengths(taken, unseen, evidence.intervals, evidence.sending_s)


def _lowest_pps(seen: Sequence[SlowPhases]) -> float:
    return min(each.tried.load_pps for each in seen)


def _free_pps(knowledge: Knowledge, seen: Sequence[SlowPhases]) -> float | None:
    """The highest load that was long enough without a phase, below all that had any.

    None where a phase came at such a load or below it, and sooner: then the load is not what
    sets it off, and those were spared by chance.
    """
    below = (
        tried.load_pps for tried in _free(knowledge, seen) if tried.load_pps < _lowest_pps(seen)
    )
    return None if _is_at_random(knowledge, seen) else max(below, default=None)


def _free(knowledge: Knowledge, seen: Sequence[SlowPhases]) -> list[Tried]:
    """The trials that were long enough to have had a phase, and had none."""
    long_enough_s = _long_enough_s(knowledge.plan, seen)
    return [
        each.tried
        for each in knowledge.watched_phases()
        if each.tried.asked.duration_s >= long_enough_s and not each.left_pps
    ]


def _is_at_random(knowledge: Knowledge, seen: Sequence[SlowPhases]) -> bool:
    return any(_contradicts(each, free) for free in _free(knowledge, seen) for each in seen)


def _contradicts(phases: SlowPhases, free: Tried) -> bool:
    came_s = phases.tried.evidence.first_loss_s or 0.0
    return phases.tried.load_pps <= free.load_pps and came_s < free.evidence.sending_s


def _long_enough_s(plan: LoadLinePlan, seen: Sequence[SlowPhases]) -> float:
    """Four times the time that phases took to come, but no longer than a study."""
    came_s = fmean(each.tried.evidence.first_loss_s or 0.0 for each in seen)
    return min(plan.study_s, max(plan.watch_s, _LONG_ENOUGH * came_s))
