"""The highest load at which absences, or slow phases, lose no more together than a goal allows.

The load at which slow phases of the DUT lose no more than a goal allows. A phase that leaves some
of the capacity is an absence of the rest: (load - left) x length frames find no service, and what
the buffer does not hold of them is lost. It lasted for as long as it took to fill the buffer and
to lose what it lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from ...text.units import format_duration, format_pps, format_ratio
from ..hypotheses import incidents_of
from ..knowledge import Knowledge
from ..limit import Limit
from ..plan import LoadLinePlan
from ..stalls.load_growth import LoadGrowth
from ..stalls.stall_limit import known_buffer, stall_limit
from ..stalls.stalls_seen import buffer_frames
from ..tried import Tried
from .forecast import AllowedLossForecast, BufferShare, Directions, Terms, directions_of, worst_lost
from .spectrum import Absences, LikelyTail, Spectrum, spectrum_of

# Closer together, what phases leave is what one kind of phase leaves.
_ALIKE = 0.01
# No less of the load is taken by a phase: what it leaves is not known as well.
_MIN_TAKEN = 0.01


def phases_forecast(knowledge: Knowledge) -> AllowedLossForecast | None:
    """What phases lose together; None where there are none, or more than one kind."""
    lefts_pps = [left for each in knowledge.slow_phases() for left in each.left_pps]
    buffer = knowledge.full_queue()
    if not lefts_pps or not buffer or max(lefts_pps) > min(lefts_pps) * (1.0 + _ALIKE):
        return None
    left_pps = min(lefts_pps)
    watched = [
        each.tried
        for each in knowledge.watched_phases()
        if each.tried.load_pps * (1.0 - _MIN_TAKEN) > left_pps and each.tried.interval_s
    ]
    lengths_s = [length for tried in watched for length in _lengths_s(tried, left_pps, buffer)]
    watched_s = sum(tried.evidence.sending_s for tried in watched)
    if not lengths_s or watched_s <= 0.0:
        return None
    growth = LoadGrowth(0.0, 2.0 * left_pps, left_pps)
    # At twice what phases leave, frames wait for half as long as a phase lasts.
    seen = tuple(Absences(1.0 / watched_s, length / 2.0) for length in lengths_s)
    return AllowedLossForecast(
        Spectrum(seen, (1.0,) * len(seen), (LikelyTail(1.0, ()),), 0.0),
        growth,
        (BufferShare(buffer, 1.0),),
        knowledge.capacity_pps(),
        _directions(watched),
    )


def _lengths_s(tried: Tried, left_pps: float, buffer: float) -> Iterator[float]:
    """How long phases of a trial were; those of adjacent intervals are one."""
    lost, end_s = 0.0, -1.0
    for incident in incidents_of(tried):
        if lost and incident.at_s - end_s > tried.interval_s / 2:
            yield (lost + buffer) / (tried.load_pps - left_pps)
            lost = 0.0
        lost += incident.lost
        end_s = incident.at_s + incident.seconds
    if lost:
        yield (lost + buffer) / (tried.load_pps - left_pps)


def _directions(watched: list[Tried]) -> Directions:
    """Each has its own, and the worst what it lost of all."""
    worst = worst_lost(watched)
    if worst is None:
        return Directions((1.0,), together=True)
    return Directions((worst, 1.0 - worst), together=False)


# Of the capacity: so much is left to drain a queue with.
_WITH_ROOM = 0.95
# Fewer stalls than this do not tell a buffer that is smaller at times.
_MIN_SMALL = 3


def allowed_loss_limit(knowledge: Knowledge, allowed: float, base_pps: float) -> Limit | None:
    """What absences permit up to `base_pps`, which the DUT carries without them.

    None where that is not known, or where absences do not limit the load. With no loss
    `allowed` it is the forecast for no loss, and with some it is never less than that.
    """
    no_loss = stall_limit(knowledge)
    if allowed <= 0.0:
        return no_loss
    found = knowledge.keep("allowed loss", lambda: _forecast(knowledge))
    if found is None:
        return None
    plan = knowledge.plan
    least_pps = max(plan.minimum_pps, 0.0 if no_loss is None else no_loss.load_pps)
    most_pps, terms = max(least_pps, knowledge.capacity_pps()), terms_of(plan, allowed)
    highest_pps = knowledge.keep(
        f"highest load for {allowed}",
        lambda: found.highest_pps(terms, least_pps, most_pps),
    )
    if highest_pps >= min(base_pps, most_pps):
        return None
    # As below the capacity, half a width is left for what is not known as well.
    load_pps = max(least_pps, highest_pps * (1.0 - plan.width / 2))
    return Limit(load_pps, "stalls", _text(found, plan, allowed, load_pps))


def allowed_phases_limit(knowledge: Knowledge, allowed: float) -> Limit | None:
    """The highest load at which slow phases lose no more than is allowed; None if not known."""
    found = knowledge.keep("allowed phases", lambda: phases_forecast(knowledge))
    if found is None:
        return None
    plan, left_pps = knowledge.plan, found.growth.left_pps
    most_pps = max(left_pps, knowledge.capacity_pps())
    highest_pps = knowledge.keep(
        f"highest load with phases for {allowed}",
        lambda: found.highest_pps(terms_of(plan, allowed), left_pps, most_pps),
    )
    load_pps = highest_pps * (1.0 - plan.width)
    text = (
        f"phases in which the DUT forwards only {format_pps(left_pps)}: what they lose together in "
        f"{format_duration(plan.validation_s)} is within the {format_ratio(allowed)} allowed up to "
        f"{format_pps(load_pps)}"
    )
    return Limit(load_pps, "slow-phase", text)


def terms_of(plan: LoadLinePlan, allowed: float) -> Terms:
    """What a validation is judged by: each of its windows where it has two or more.

    Windows that all keep to the limit imply that the whole does.
    """
    if plan.window_s is None or plan.validation_s < 2.0 * plan.window_s:
        return Terms(allowed, plan.validation_s, 1.0, plan.confidence)
    return Terms(allowed, plan.window_s, plan.validation_s / plan.window_s, plan.confidence)


def _forecast(knowledge: Knowledge) -> AllowedLossForecast | None:
    stalls, buffers = knowledge.stall_forecast(), _buffers(knowledge)
    if stalls is None or not buffers:
        return None
    trials = [*knowledge.showing_stalls(), *knowledge.losing_by_stalls()]
    return AllowedLossForecast(
        spectrum_of(trials, stalls),
        stalls.growth,
        buffers,
        knowledge.capacity_pps(),
        directions_of(trials, knowledge.overflows(), buffers[0].frames),
        [
            each
            for each in trials
            if not each.evidence.lost or knowledge.is_explained_by_stalls(each)
        ],
    )


def _buffers(knowledge: Knowledge) -> tuple[BufferShare, ...]:
    """The sizes that the buffer has and their shares of the time, the smallest first.

    Stalls near the capacity are left out: one that finds another's queue looks like a stall in
    a smaller buffer. Nothing where no size is known.
    """
    with_room = _WITH_ROOM * knowledge.capacity_pps()
    small = [each for each in knowledge.small_overflows() if each.load_pps <= with_room]
    if len(small) < _MIN_SMALL:
        full = buffer_frames(knowledge.overflows(), knowledge.full_queue())
        full = full or known_buffer(knowledge)
        return () if full is None else (BufferShare(full, 1.0),)
    held, share = median(each.held for each in small), knowledge.share_of_buffer()
    return BufferShare(held, share), BufferShare(knowledge.full_buffer(), 1.0 - share)


def _text(found: AllowedLossForecast, plan: LoadLinePlan, allowed: float, load_pps: float) -> str:
    lasting, chance = format_duration(plan.validation_s), format_ratio(plan.confidence)
    frames = allowed * load_pps * plan.validation_s
    text = (
        f"stalls of the DUT: its buffer holds {found.buffers[0].frames:,.0f} frames. Up to "
        f"{format_pps(load_pps)}, all its stalls in {lasting} together lose no more than the "
        f"allowed {format_ratio(allowed)} ({frames:,.0f} frames per direction), with {chance} "
        "probability"
    )
    pieces = terms_of(plan, allowed)
    if pieces.pieces > 1.0:
        text += f", in each window of {format_duration(pieces.piece_s)}"
    return text
