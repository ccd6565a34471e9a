"""The load that the DUT carries through its slow phases, or that sets off none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from ...text.units import format_duration, format_pps
from ..knowledge import Knowledge
from ..limit import Limit
from ..plan import LoadLinePlan
from ..stalls.tail import SeenLengths, tail_beyond
from ..tried import Tried
from .onset import Onset, SeenSlowPhases, Waited
from .overlap import BridgedPhases, PhasesSeen, bridged_phases

# Closer together, what phases leave is what one kind of phase leaves.
_ALIKE = 0.01
# Phases of one kind take multiples of what one takes, but for so much of it.
_MULTIPLE = 0.15
# Between a load with phases and what they leave, so much is worth to be looked into.
_WORTH_LOOKING = 0.03
# Of a validation: so much time may be lost for one that passes at a higher load.
_WORTH_A_TRY = 1.0
# What has itself lasted for a validation is believed at this many times the risk, where what else
# there is leaves less by such a share.
_RISKIER, _FAR_LESS = 3.0, 0.1
# Of a phase whose end was not seen, so many times what was.
_UNSEEN = 2.0
# A phase that lasts for longer than this share of a validation does not end.
_ENDLESS = 1.0 / 3.0
# Phases that come at random stay away for so many times their time by a chance of e^-4.
_LONG_ENOUGH = 4.0
# Phases that come with age come after so many times that time, nearly always.
_LONGER = 1.5


def slow_phase_limit(knowledge: Knowledge) -> Limit | None:
    """What the slowest phase of a validation leaves; more where a higher load had none."""
    seen = knowledge.slow_phases()
    if not seen:
        return None
    if (bridged := _bridged(knowledge, seen)) is not None:
        return _bridged_limit(knowledge.plan, bridged)
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


def _bridged(knowledge: Knowledge, seen: Sequence[SeenSlowPhases]) -> BridgedPhases | None:
    """Phases of one kind that the buffer bridges; None where they differ, or it does not."""
    lefts_pps = [left for each in seen for left in each.left_pps]
    if max(lefts_pps) - min(lefts_pps) > _ALIKE * min(lefts_pps):
        return None
    return bridged_phases(knowledge, seen, min(lefts_pps))


def _bridged_limit(plan: LoadLinePlan, bridged: BridgedPhases) -> Limit:
    load_pps = bridged.load_pps * (1.0 - plan.width / 2)
    text = (
        f"phases of up to {format_duration(bridged.longest_s)} in which the DUT forwards only "
        f"{format_pps(bridged.left_pps)}: a buffer of {bridged.buffer:,.0f} frames bridges them "
        f"up to {format_pps(load_pps)}"
    )
    return Limit(load_pps, "brief-phase", text)


def trigger_to_look_for(knowledge: Knowledge) -> tuple[float, float] | None:
    """At which load and for how many s to watch whether phases come there as well.

    Heat sets off phases that a lower load is free of; what comes from outside comes at any
    load. None where that is known, or not worth it, or where watches of minutes would not tell.
    """
    seen = knowledge.slow_phases()
    if not seen or _bridged(knowledge, seen) is not None:
        return None
    plan = knowledge.plan
    onset, watch_s = _onset(knowledge, seen), _long_enough_s(plan, _came_s(knowledge, seen))
    upper_pps = _lowest_pps(seen)
    clean_pps = max(_clean(knowledge, onset, upper_pps), default=0.0)
    lower_pps = max(onset.left_pps, clean_pps)
    gap = (upper_pps - lower_pps) / (_WORTH_LOOKING * upper_pps)
    if gap <= 1.0:
        return None
    aim_pps = (lower_pps + upper_pps) / 2
    # One to confirm the last.
    further = 1 + max(1, math.ceil(math.log2(gap)))
    if not onset.could_spare(aim_pps, watch_s, further, plan.confidence):
        return None
    return aim_pps, watch_s


def trigger_to_validate(knowledge: Knowledge) -> float | None:
    """A load above what phases leave, of which a validation that passes would convince.

    The highest that was watched without a phase; halfway to the lowest that had one where no
    watch could tell. One that fails by the next phase takes no longer than phases take to come,
    and one that passes is the answer. None where passing is too unlikely for that.
    """
    seen = knowledge.slow_phases()
    if not seen or _bridged(knowledge, seen) is not None:
        return None
    plan, onset, upper_pps = knowledge.plan, _onset(knowledge, seen), _lowest_pps(seen)
    if upper_pps - onset.left_pps <= _WORTH_LOOKING * upper_pps:
        return None
    halfway_pps = (onset.left_pps + upper_pps) / 2
    load_pps = max(_clean(knowledge, onset, upper_pps), default=halfway_pps)
    once, twice = onset.chance(load_pps, 1), onset.chance(load_pps, 2)
    costs_s = (1.0 - once) * _came_s(knowledge, seen)
    worth = costs_s <= once * _WORTH_A_TRY * plan.validation_s
    enough = _risky(plan.confidence, load_pps, onset.left_pps)
    return load_pps if worth and twice >= enough * once else None


def _risky(confidence: float, load_pps: float, left_pps: float) -> float:
    """The confidence in a load that has lasted, next to what phases leave."""
    if load_pps - left_pps < _FAR_LESS * load_pps:
        return confidence
    return 1.0 - _RISKIER * (1.0 - confidence)


def least_left_pps(knowledge: Knowledge, seen: Sequence[SeenSlowPhases]) -> float:
    """What the slowest phase of a validation leaves, with the confidence asked for.

    Where phases differ, what they take of the capacity is foretold as the length of stalls is.
    """
    plan = knowledge.plan
    lefts = [left for each in seen for left in each.left_pps]
    capacity_pps = knowledge.capacity_pps()
    at_once = _at_once(lefts, capacity_pps)
    if at_once is not None:
        return _with_overlaps(knowledge, seen, min(lefts), at_once)
    tail = tail_beyond([_taken(each, capacity_pps) for each in knowledge.watched_phases()])
    if tail is None:
        return min(lefts)
    taken_pps = tail.length_s(plan.validation_s, plan.confidence)
    return max(plan.minimum_pps, capacity_pps - taken_pps)


def _at_once(lefts_pps: Sequence[float], capacity_pps: float) -> int | None:
    """How many phases of one kind left the least of these; None where they differ in kind.

    Each takes the same of the capacity, and two at once take twice as much.
    """
    least_pps, most_pps = min(lefts_pps), max(lefts_pps)
    if len(lefts_pps) < 2 or most_pps - least_pps <= _ALIKE * least_pps:
        return 1
    each_pps = capacity_pps - most_pps
    if each_pps <= 0.0:
        return None
    numbers = [(capacity_pps - left) / each_pps for left in lefts_pps]
    if any(abs(number - round(number)) > _MULTIPLE for number in numbers):
        return None
    most = round(max(numbers))
    return most if most > 1 else None


def _with_overlaps(
    knowledge: Knowledge, seen: Sequence[SeenSlowPhases], left_pps: float, most: int
) -> float:
    """What is left where phases of one kind come on top of each other; `most` were seen to."""
    plan, capacity_pps = knowledge.plan, knowledge.capacity_pps()
    watched_s = sum(
        each.tried.evidence.sending_s
        for each in knowledge.watched_phases()
        if each.tried.load_pps > left_pps
    )
    runs_s = [length_s for each in _begun(knowledge, seen) for length_s in _runs_s(knowledge, each)]
    if not runs_s or any(math.isinf(each) for each in runs_s):
        # What does not end is no phase: so much of the capacity is gone for good.
        return left_pps
    phases = PhasesSeen(len(runs_s), fmean(runs_s), max(watched_s, sum(runs_s)))
    odds = 1.0 if most > 1 else phases.odds_of_overlap(_onset(knowledge, seen).odds_at_random)
    at_once = phases.at_once(plan.validation_s, plan.confidence, odds)
    taken_pps = max(0.0, capacity_pps - left_pps) / most
    return max(plan.minimum_pps, capacity_pps - max(most, at_once) * taken_pps)


def _runs_s(knowledge: Knowledge, phases: SeenSlowPhases) -> list[float]:
    """How long each phase of a trial was."""
    tried = phases.tried
    runs_s: list[float] = []
    end_s = -math.inf
    for loss in tried.evidence.losses:
        if loss.begin_s - end_s > tried.interval_s / 2:
            runs_s.append(0.0)
        runs_s[-1] += loss.end_s - loss.begin_s
        end_s = loss.end_s
    if runs_s and end_s > tried.evidence.sending_s - tried.interval_s / 2:
        runs_s[-1] += _went_on_s(knowledge, phases)
    return runs_s


def _went_on_s(knowledge: Knowledge, phases: SeenSlowPhases) -> float:
    """How long after its trial the last phase lasted: until more than it leaves was carried.

    Where nothing more was carried since, twice as long as it was seen to last; infinity where
    that is a third of a validation: then it has no end.
    """
    number = next(at for at, each in enumerate(knowledge.trials) if each is phases.tried)
    seconds = lasted_s = 0.0
    for later in knowledge.trials[number + 1 :]:
        if later.load_pps > max(phases.left_pps):
            if knowledge.overload_capacity_pps(later) is None:
                return seconds
            lasted_s = seconds + later.evidence.sending_s
        seconds += later.evidence.sending_s
    endless = lasted_s > _ENDLESS * knowledge.plan.validation_s
    return math.inf if endless else _UNSEEN * lasted_s


def _taken(seen: SeenSlowPhases, capacity_pps: float) -> SeenLengths:
    """What phases took of the capacity; those that left enough for the load were not seen."""
    evidence = seen.tried.evidence
    taken = tuple(capacity_pps - left for left in seen.left_pps if left < capacity_pps)
    unseen = max(0.0, capacity_pps - seen.tried.load_pps)
    return SeenLengths(taken, unseen, evidence.intervals, evidence.sending_s)


def _lowest_pps(seen: Sequence[SeenSlowPhases]) -> float:
    return min(each.tried.load_pps for each in seen)


def _free_pps(knowledge: Knowledge, seen: Sequence[SeenSlowPhases]) -> float | None:
    """The highest load that was watched without a phase and is likely to go on without; or None.

    Likely by all that was seen: that phases come at random, or with age, spares no load.
    """
    onset, lowest_pps = _onset(knowledge, seen), _lowest_pps(seen)
    confidence = knowledge.plan.confidence
    lasted = {each.load_pps for each in knowledge.trials if _lasted(knowledge, each)}
    clean = sorted(_clean(knowledge, onset, lowest_pps), reverse=True)
    return next(
        (
            load
            for load in clean
            if onset.spares(
                load, _risky(confidence, load, onset.left_pps) if load in lasted else confidence
            )
        ),
        None,
    )


def _lasted(knowledge: Knowledge, tried: Tried) -> bool:
    """Whether it went on for a validation without losing anything."""
    return tried.evidence.sending_s >= knowledge.plan.validation_s and not tried.evidence.lost


def _clean(knowledge: Knowledge, onset: Onset, below_pps: float) -> set[float]:
    """The loads that were watched, above what phases leave and below all that had any."""
    return {
        tried.load_pps
        for tried in knowledge.carried()
        if tried.asked.duration_s >= knowledge.plan.watch_s
        and onset.left_pps < tried.load_pps < below_pps
    }


def _onset(knowledge: Knowledge, seen: Sequence[SeenSlowPhases]) -> Onset:
    """Of all trials above what any phase leaves, how long each was without one."""
    left_pps = max(left for each in seen for left in each.left_pps)
    waited = tuple(
        Waited(each.tried.load_pps, _until_s(each), bool(each.left_pps))
        for each in knowledge.watched_phases()
        if each.tried.load_pps > left_pps
        and each.tried.interval_s
        and not knowledge.slow_all_along(each.tried)
    )
    return Onset(waited, left_pps, knowledge.plan.validation_s)


def _begun(knowledge: Knowledge, seen: Sequence[SeenSlowPhases]) -> Sequence[SeenSlowPhases]:
    """Those whose phases began in their trial; all, where none did."""
    return [each for each in seen if not knowledge.slow_all_along(each.tried)] or seen


def _came_s(knowledge: Knowledge, seen: Sequence[SeenSlowPhases]) -> float:
    """How long trials were without a phase until one began, in the mean."""
    return fmean(_until_s(each) for each in _begun(knowledge, seen))


def _until_s(phases: SeenSlowPhases) -> float:
    """Within the interval in which the first phase began: half of that at least."""
    first_s, tried = phases.tried.evidence.first_loss_s, phases.tried
    if first_s is None or not phases.left_pps:
        return tried.evidence.sending_s
    return max(first_s, tried.interval_s / 2.0)


def _long_enough_s(plan: LoadLinePlan, came_s: float) -> float:
    """Four times the time that phases took to come, but no longer than a study.

    Half as long again as they took, though, or it could not tell age from the load; for no more
    than two studies.
    """
    watch_s = min(plan.study_s, max(plan.watch_s, _LONG_ENOUGH * came_s))
    return min(max(watch_s, _LONGER * came_s), 2.0 * plan.study_s)
