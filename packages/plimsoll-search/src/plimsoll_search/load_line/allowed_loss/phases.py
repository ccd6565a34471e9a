"""The load at which slow phases of the DUT lose no more than a goal allows.

A phase that leaves some of the capacity is an absence of the rest: (load - left) x length frames
find no service, and what the buffer does not hold of them is lost. It lasted for as long as it
took to fill the buffer and to lose what it lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..hypotheses.incident import incidents_of
from ..knowledge import Knowledge
from ..stalls.load_growth import LoadGrowth
from ..tried import Tried
from .directions import Directions, worst_lost
from .forecast import AllowedLossForecast, BufferShare
from .spectrum import Absences, LikelyTail, Spectrum

# Closer together, what phases leave is what one kind of phase leaves.
_ALIKE = 0.01
# No less of the load is taken by a phase: what it leaves is not known as well.
_LEAST_TAKEN = 0.01


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
        if each.tried.load_pps * (1.0 - _LEAST_TAKEN) > left_pps and each.tried.interval_s
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
