"""The DUT is away for a while: what comes meanwhile waits, and is lost without room.

While it is away for s seconds, load·s frames come, and load·s - buffer are lost. So a loss
has a peak that is longer than it takes to fill the queue, and by as much as lost the frames.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from .hypothesis import (
    AT_ONCE,
    IMPOSSIBLE,
    LOG_ANY,
    NEARLY,
    HypothesisName,
)
from .incident import LossIncident

# Only a stall's loss and peak go together. For another cause it is a coincidence: of losses of
# any order of magnitude up to 10^5 frames, one in e^4 is so near.
_LOG_EXACT = 4.0
# As good as impossible.
_MOST_STALLS = 1e6


@dataclass(frozen=True, slots=True)
class StallHypothesis:
    """Any length is as likely as any; what does not fit is how many it takes at once."""

    name: ClassVar[HypothesisName] = "stall"
    full_queue: float

    @classmethod
    def fitted(cls, incidents: Sequence[LossIncident], full_queue: float) -> Self:
        """Its only parameter is the queue."""
        return cls(full_queue)

    def log_density(self, incident: LossIncident) -> float:
        """By the number of stalls in one interval that it takes to lose so much."""
        came, lost = incident.came, incident.lost
        if came <= 0.0 or came < self.full_queue * NEARLY:
            return IMPOSSIBLE
        if not self.full_queue:
            return LOG_ANY if lost < came else IMPOSSIBLE
        each = AT_ONCE * (came - self.full_queue * NEARLY)
        if each <= 0.0:
            return IMPOSSIBLE
        if self._is_exact(incident):
            return LOG_ANY + _LOG_EXACT
        stalls = math.ceil(min(lost / each, _MOST_STALLS))
        return LOG_ANY + _log_odds_of_more(stalls, incident.crowding)

    def _is_exact(self, incident: LossIncident) -> bool:
        """Whether one stall, of one direction or of both, lost just what did not fit."""
        beyond = incident.came - self.full_queue
        return any(
            abs(incident.lost / directions - beyond) <= (1.0 - NEARLY) * self.full_queue
            for directions in (1, 2)
        )


def _log_odds_of_more(stalls: int, mean: float) -> float:
    """The chance of so many in an interval that has one, by Poisson, bounded by its first term."""
    if stalls <= 1:
        return 0.0
    mean = max(mean, 1e-9)
    further = stalls - 1
    return min(0.0, further * math.log(mean) - math.lgamma(further + 1))
