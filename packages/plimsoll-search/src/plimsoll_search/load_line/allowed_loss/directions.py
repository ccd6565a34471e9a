"""How the losses of absences are spread over directions, each of which has the limit for itself.

Peaks are those of all directions together. Where an absence is one of all directions at once, as
where one loop serves all, each loses by every peak; else each has a part of the absences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..stalls.seen import SeenStall
from ..tried import Tried

# Of what came, a loss that is smaller does not tell one direction from several.
_TELLING = 0.03
# Directions that are alike differ in what they lost by chance alone, in so many deviations.
_BY_CHANCE = 1.5


@dataclass(frozen=True, slots=True)
class Directions:
    """Each direction's share of the absences, the largest first.

    Where `together` is true an absence hits all directions at once, and every share is 1.
    """

    shares: tuple[float, ...]
    together: bool

    @property
    def hit(self) -> float:
        """How many directions an absence is one of, in the mean."""
        return sum(self.shares)


def directions_of(
    trials: Sequence[Tried], overflowed: Iterable[SeenStall], buffer: float
) -> Directions:
    """Judged by the stalls that overflowed the buffer; without any, the worst case: together."""
    count = max((_count(each) for each in trials), default=1)
    if count == 1:
        return Directions((1.0,), together=True)
    votes = [_is_of_one(stall, count, buffer) for stall in overflowed]
    known = [each for each in votes if each is not None]
    if not known or 2 * sum(known) < len(known):
        return Directions((1.0,) * count, together=True)
    worst = _worst_share(trials, len(known), count)
    return Directions((worst, *[(1.0 - worst) / (count - 1)] * (count - 1)), together=False)


def worst_lost(trials: Sequence[Tried]) -> float | None:
    """The worst direction's share of the frames lost in all trials; None where none were."""
    lost = sum(each.evidence.lost for each in trials)
    if not lost:
        return None
    return sum(each.evidence.lost * each.worst_direction_share for each in trials) / lost


def _count(tried: Tried) -> int:
    """The number of directions, from the frames offered to all of them."""
    evidence = tried.evidence
    return max(1, round(evidence.offered / max(1.0, tried.load_pps * evidence.sending_s)))


def _is_of_one(stall: SeenStall, count: int, buffer: float) -> bool | None:
    """Whether one direction alone lost its frames; None where that makes no difference."""
    beyond = stall.came - buffer
    if beyond < _TELLING * stall.came:
        return None
    return abs(stall.lost - beyond) <= abs(stall.lost / count - beyond)


def _worst_share(trials: Sequence[Tried], events: int, count: int) -> float:
    """That of what was lost; an equal share where chance explains it."""
    worst = worst_lost(trials)
    if worst is None:
        return 1.0 / count
    by_chance = _BY_CHANCE * math.sqrt((count - 1) / max(1, events)) / count
    return worst if worst > 1.0 / count + by_chance else 1.0 / count
