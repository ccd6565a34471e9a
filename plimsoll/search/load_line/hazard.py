"""Losses that come now and then, without a stall: how rare they are, and where rare enough.

Their rate is taken to rise exponentially with the load between the two lowest loads that
had any: a soft knee does. Zero loss over hours asks for a rate that no trial of minutes can
see, so it is extrapolated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.search.load_line.stalls import unexplained_losses
from plimsoll.search.load_line.tried import Tried


@dataclass(frozen=True, slots=True)
class LossRate:
    """`frames` lost in `seconds` at a load, without a stall that explains them."""

    load_pps: float
    frames: float
    seconds: float

    @property
    def per_s(self) -> float:
        """Frames lost per second."""
        return self.frames / self.seconds


def loss_rates(trials: Sequence[Tried]) -> list[LossRate]:
    """By load, lowest first: every load at which frames were lost so."""
    frames: dict[float, float] = {}
    seconds: dict[float, float] = {}
    for tried in trials:
        load = tried.load_pps
        lost = sum(loss.frames for loss in unexplained_losses(tried))
        frames[load] = frames.get(load, 0.0) + lost
        seconds[load] = seconds.get(load, 0.0) + tried.evidence.sending_s
    return [
        LossRate(load, frames[load], seconds[load])
        for load in sorted(frames)
        if frames[load] > 0 and seconds[load] > 0
    ]


def loss_free_pps(rates: Sequence[LossRate], per_s: float, width: float) -> float | None:
    """The load at which losses are as rare as `per_s`; None where two loads do not say.

    Never less than half the lowest: so far the line is not believed.
    """
    if not rates:
        return None
    lowest = rates[0]
    higher = next(
        (each for each in rates if each.load_pps > lowest.load_pps * (1.0 + width / 4)), None
    )
    if higher is None:
        return None
    steepness = math.log(higher.per_s / lowest.per_s) / (higher.load_pps - lowest.load_pps)
    if steepness <= 0.0:
        return lowest.load_pps / 2
    back = math.log(max(1.0, lowest.per_s / per_s)) / steepness
    return max(lowest.load_pps - back, lowest.load_pps / 2)
