"""Losses that come now and then, without a stall: how rare they are, and where rare enough.

Their rate is taken to rise exponentially with the load between the two lowest loads that
had any. Zero loss over hours asks for a rate that no trial of minutes can see, so it is
extrapolated; and because a curve that is steeper further down would be overshot, trials
of minutes are asked for on the way until losses are few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .stalls.stalls_seen import unexplained_losses
from .tried import Tried
from .weigh import Weighed

# Two loads this close, as a share of `width`, are one.
_APART = 0.25
# Most intervals lossy: how many events each of them had cannot be told any more.
_CROWDED = 0.9

_AT_LEAST = 0.75


@dataclass(frozen=True, slots=True)
class LossRate:
    """So many `events` of loss in `seconds` at a load, without a stall that explains them."""

    load_pps: float
    events: float
    seconds: float

    @property
    def per_s(self) -> float:
        """Events per second."""
        return self.events / self.seconds


def loss_rates(trials: Sequence[Tried], weighed: Weighed) -> list[LossRate]:
    """By load, lowest first: every load at which frames were lost so."""
    frames_per_event = _frames_per_event(trials, weighed)
    events: dict[float, float] = {}
    seconds: dict[float, float] = {}
    for tried in trials:
        load = tried.load_pps
        found = _events(tried, weighed, frames_per_event)
        events[load] = events.get(load, 0.0) + found
        seconds[load] = seconds.get(load, 0.0) + tried.evidence.sending_s
    return [
        LossRate(load, events[load], seconds[load])
        for load in sorted(events)
        if events[load] > 0 and seconds[load] > 0
    ]


def loss_free_pps(rates: Sequence[LossRate], per_s: float, width: float) -> float | None:
    """The load at which losses are as rare as `per_s`; None where two loads do not say.

    Never less than three quarters of the lowest: so far the line is not believed.
    """
    if not rates:
        return None
    lowest = rates[0]
    apart = lowest.load_pps * (1.0 + width * _APART)
    higher = next((each for each in rates if each.load_pps > apart), None)
    if higher is None:
        return None
    steepness = math.log(higher.per_s / lowest.per_s) / (higher.load_pps - lowest.load_pps)
    if steepness <= 0.0:
        return None
    back = math.log(max(1.0, lowest.per_s / per_s)) / steepness
    return max(lowest.load_pps - back, lowest.load_pps * _AT_LEAST)


def _events(tried: Tried, weighed: Weighed, frames_per_event: float) -> float:
    losses = unexplained_losses(tried, weighed)
    if not losses:
        return 0.0
    intervals = tried.evidence.intervals
    if tried.evidence.lossy_intervals < _CROWDED * intervals:
        return -intervals * math.log1p(-len(losses) / intervals)
    return max(float(len(losses)), tried.evidence.lost / frames_per_event)


def _frames_per_event(trials: Iterable[Tried], weighed: Weighed) -> float:
    """By the trial whose losses were rarest; 1 where all had losses all the time."""
    sparse = [
        (len(losses) / tried.evidence.intervals, sum(loss.lost for loss in losses) / len(losses))
        for tried in trials
        if (losses := unexplained_losses(tried, weighed))
        and len(losses) < _CROWDED * tried.evidence.intervals
    ]
    return max(1.0, min(sparse)[1]) if sparse else 1.0
