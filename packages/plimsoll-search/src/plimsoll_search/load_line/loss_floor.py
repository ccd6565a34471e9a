"""A share of the frames is lost at any load: then no load is free of loss, however low.

Losses of a queue become rarer by orders of magnitude within a few per cent of load. Those of a
bad cable or a faulty memory come once in so many frames, at any load.
"""

from __future__ import annotations

from collections.abc import Sequence

from .hazard import LossRate

# Loads that differ by this factor tell one from the other.
APART = 4.0
_ABOUT = 0.75
# So many events at the lower load, so that chance is not taken for a floor.
MIN_EVENTS = 3.0
# Events for each frame may differ so much: an interval's several losses count as one.
_ALIKE = 4.0


def loss_floor(rates: Sequence[LossRate]) -> float | None:
    """Events of loss for each frame, if they are as likely at a far lower load; None if not.

    `rates` are by load, lowest first, as hazard.loss_rates has them.
    """
    if len(rates) < 2 or rates[-1].load_pps < _ABOUT * APART * rates[0].load_pps:
        return None
    lowest, highest = rates[0], rates[-1]
    low, high = lowest.per_s / lowest.load_pps, highest.per_s / highest.load_pps
    if lowest.events < MIN_EVENTS or low * _ALIKE < high:
        return None
    return sum(each.events for each in rates) / sum(each.load_pps * each.seconds for each in rates)
