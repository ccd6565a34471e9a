"""Phases in which the DUT serves at less than its capacity, and what they leave of it."""

from __future__ import annotations

from dataclasses import dataclass

from ..decline import declined
from ..hypotheses.incident import incidents_of
from ..hypotheses.weigh import Weighed
from ..tried import Tried

# What leaves less of the load than this as soon as it loses anything did not fall little by
# little: in an interval of a validation that is looked at 200 times, no drift comes so far.
SUDDENLY = 0.985
# The interval in which a phase begins may be too short a part of it to fill the queue.
_BEGINNING = 2


@dataclass(frozen=True, slots=True)
class SeenSlowPhases:
    """A trial, and what each of its phases left of the capacity, in pps."""

    tried: Tried
    left_pps: tuple[float, ...]


def lefts_pps(tried: Tried, weighed: Weighed, full_queue: float) -> tuple[float, ...]:
    """What each phase of a trial left: by Little's law, a full queue ÷ the wait in it."""
    return tuple(
        full_queue / each.peak_s
        for each in incidents_of(tried)
        if weighed.explanation(each) == "slow-phase"
    )


def slowed_suddenly(tried: Tried, full_queue: float) -> bool:
    """Whether losses began late and did not end, and the first were of a capacity far below.

    `full_queue` frames wait in plain overload; 0 where that is not known.
    """
    if not full_queue or not declined(tried, full_queue):
        return False
    first = [each.peak_s for each in incidents_of(tried)][:_BEGINNING]
    return full_queue < max(first, default=0.0) * tried.load_pps * SUDDENLY
