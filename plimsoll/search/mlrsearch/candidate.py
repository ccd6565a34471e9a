"""Which load to try next for one goal: by what its own trials and its coarser goal's say.

RFC 9971 leaves the selection open; this one is our own. Everything is derived from the
trials alone, so that the same trials always lead to the same load. A load is asked for
again until it is classified, because as long as it is not, nothing here changes.

It ends: a new load keeps a distance of at least a quarter of the goal's width to all
others between the bounds, so there are finitely many; and a load with full-length trials
of the whole duration sum is always classified.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.search.mlrsearch.goal import Goal
from plimsoll.search.mlrsearch.span import Span
from plimsoll.search.mlrsearch.trial_log import TrialLog

# A load this close to one that has trials already, in widths, is not worth trials of its own.
_SAME_LOAD = 0.25
# Of a load that lost everything the logarithm of what it forwarded would be infinite.
_ALL_BUT_NOTHING = 1 - 1e-12
# Of a step; of the least width they are more than any range of loads.
_MOST_DOUBLINGS = 40


@dataclass(frozen=True, slots=True)
class Interval:
    """What a goal leaves open: between its highest load that holds and its lowest barred one."""

    lower_pps: float | None
    barrier_pps: float | None


def open_interval(goal: Goal, log: TrialLog, span: Span) -> Interval:
    """The relevant bounds so far, the tester's ceiling being as good as an upper bound.

    What was found above the span does not count.
    """
    classes = {load: is_ for load, is_ in log.classes(goal).items() if load <= span.top_pps}
    barred = [load for load, found in classes.items() if found == "upper"]
    if span.ceiling_pps is not None and span.ceiling_pps <= span.top_pps:
        barred.append(span.ceiling_pps)
    barrier = min(barred, default=None)
    held = [
        load
        for load, found in classes.items()
        if found == "lower" and (barrier is None or load < barrier)
    ]
    return Interval(max(held, default=None), barrier)


def next_load(goal: Goal, coarser: Goal | None, log: TrialLog, span: Span) -> float | None:
    """The load in pps to try next for this goal; None when it has all it asks for.

    `coarser` is the goal before it, whose bounds say where to begin.
    """
    interval = open_interval(goal, log, span)
    if _is_closed(goal, interval, span):
        return None
    known = _known(coarser, log, interval, span)
    if interval.barrier_pps is None:
        return _climb(interval.lower_pps, known, span)
    if interval.lower_pps is None:
        limit = _retreat(goal, log)
        if far := [load for load in known.held if math.log(load) <= limit]:
            return max(far)
    aim = _aim(goal, log, interval, interval.barrier_pps, span)
    return _join(aim, goal, log.loads(goal), interval)


def _is_closed(goal: Goal, interval: Interval, span: Span) -> bool:
    lower, barrier = interval.lower_pps, interval.barrier_pps
    if barrier is None:
        return lower == span.top_pps
    if lower is None:
        return barrier <= span.minimum_pps
    return goal.reached_by(lower, barrier)


@dataclass(frozen=True, slots=True)
class _Known:
    """Inside an interval, the loads that hold and that fail by the coarser goal."""

    held: tuple[float, ...] = ()
    failed: tuple[float, ...] = ()


def _known(coarser: Goal | None, log: TrialLog, interval: Interval, span: Span) -> _Known:
    if coarser is None:
        return _Known()
    floor = interval.lower_pps or 0.0
    roof = interval.barrier_pps or math.inf
    classes = {load: is_ for load, is_ in log.classes(coarser).items() if load <= span.top_pps}
    inside = {load: is_ for load, is_ in classes.items() if floor < load < roof}
    bounds = log.bounds(coarser)
    return _Known(
        # What holds above a load that fails is not to be believed.
        held=tuple(
            load
            for load, found in inside.items()
            if found == "lower" and (bounds.lower_pps or 0.0) >= load
        ),
        failed=tuple(load for load, found in inside.items() if found == "upper"),
    )


def _climb(lower_pps: float | None, known: _Known, span: Span) -> float:
    """Nothing failed yet: begin low, where bounds hold, then try what failed before."""
    if lower_pps is None and known.held:
        return max(known.held)
    return min(known.failed, default=span.top_pps)


def _aim(goal: Goal, log: TrialLog, interval: Interval, barrier_pps: float, span: Span) -> float:
    """A load below the barrier and above the lower bound, or the minimum where there is none.

    What a barred load lost tells the capacity of a DUT that loses only what is too much:
    by more than a width, and the next load is what it forwarded, then the first one above;
    by less, and it lies just below. Each time that this was wrong the step doubles, until
    halving the interval is the bigger one. A load that lost nothing tells nothing.
    """
    barrier, step = math.log(barrier_pps), goal.log_width
    lower = None if interval.lower_pps is None else math.log(interval.lower_pps)
    floor = math.log(span.minimum_pps) if lower is None else lower
    middle = (floor + barrier) / 2
    loss_ratio = _mean_loss_ratio(goal, log, barrier_pps)
    forwarded = barrier + math.log1p(-min(loss_ratio, _ALL_BUT_NOTHING))
    if not loss_ratio:
        aim = middle
    elif barrier - forwarded < step:
        aim = max(middle, min(barrier - step, _retreat(goal, log)))
    elif lower is None or forwarded - lower > step:
        # Then, one width up, the bounds close around it, if it is right by half a width.
        aim = forwarded - step / 2
    else:
        misses = min(_misses_below(goal, log, interval, forwarded), _MOST_DOUBLINGS)
        aim = min(middle, lower + step * 2.0**misses)
    if lower is None:
        return span.minimum_pps if aim - floor < step else math.exp(aim)
    # Half a width from both ends: whatever comes of it, the interval shrinks.
    return math.exp(min(max(aim, lower + step / 2), barrier - step / 2))


def _mean_loss_ratio(goal: Goal, log: TrialLog, load_pps: float) -> float:
    """Over the seconds of all trials at this load; 0 where it has none."""
    trials = log.at(goal, load_pps)
    seconds = math.fsum(trial.duration_s for trial in trials)
    lost = math.fsum(trial.duration_s * trial.loss_ratio for trial in trials)
    return lost / seconds if seconds else 0.0


def _retreat(goal: Goal, log: TrialLog) -> float:
    """The highest load that is far enough below what full-length trials failed, its logarithm.

    That is one width below the lowest such load, and twice as much for each further one
    in a row that lost too little to tell why. Infinity where there is none: what only
    short trials failed says nothing of how far to go.
    """
    failed = [
        load
        for load, found in log.classes(goal).items()
        if found == "upper" and _has_full_length(goal, log, load)
    ]
    misses = _leading(_mean_loss_ratio(goal, log, load) < goal.width for load in failed)
    if not misses:
        return math.inf
    return math.log(failed[0]) - goal.log_width * 2.0 ** min(misses - 1, _MOST_DOUBLINGS)


def _has_full_length(goal: Goal, log: TrialLog, load_pps: float) -> bool:
    return any(trial.duration_s >= goal.final_duration_s for trial in log.at(goal, load_pps))


def _misses_below(goal: Goal, log: TrialLog, interval: Interval, forwarded: float) -> int:
    """How many loads below the lower bound hold though they are above what was forwarded."""
    held = (load for load, found in log.classes(goal).items() if found == "lower")
    least = math.exp(forwarded - goal.log_width)
    return sum(1 for load in held if least <= load < (interval.lower_pps or 0.0))


def _leading(flags: Iterable[bool]) -> int:
    count = 0
    for flag in flags:
        if not flag:
            break
        count += 1
    return count


def _join(aim_pps: float, goal: Goal, loads: Iterable[float], interval: Interval) -> float:
    """The load aimed at, or one between the bounds, next to it, that has trials already."""
    floor, roof = interval.lower_pps or 0.0, interval.barrier_pps or math.inf
    near = goal.log_width * _SAME_LOAD
    distances = {load: abs(math.log(load / aim_pps)) for load in loads if floor < load < roof}
    return min(
        (load for load, distance in distances.items() if distance <= near),
        key=lambda load: distances[load],
        default=aim_pps,
    )
