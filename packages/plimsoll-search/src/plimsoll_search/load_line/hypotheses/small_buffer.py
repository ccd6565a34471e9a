"""A stall that overflowed a buffer smaller than the one that fills in overload.

Others take from a pool that queues share, and for minutes at a time the buffer is smaller. Then
what a stall lost says how much there was: what came, less what was lost. Losses that have nothing
to do with their peaks do not agree on that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import ClassVar, Self

from .hypothesis import (
    IMPOSSIBLE,
    LOG_ANY,
    NEARLY,
    HypothesisName,
)
from .incident import LossIncident

# What stalls say of the same buffer differs by so much, as a share.
_ALIKE = 0.02
_LEAST_ALIKE = 3
# Where so many stalls share an interval in the mean, their losses add up.
_CROWDED = 0.2
# Less than this share of the full queue is no buffer that was taken from.
_SMALLEST = 0.05
# Until stalls agree on it, one buffer in twenty is taken to change.
_LOG_RARE = math.log(0.05)


@dataclass(frozen=True, slots=True)
class SmallBufferHypothesis:
    """The buffer holds `held` frames; None where stalls do not agree on it, or are few."""

    name: ClassVar[HypothesisName] = "small-buffer"
    full_queue: float
    held: float | None

    @classmethod
    def fitted(cls, incidents: Sequence[LossIncident], full_queue: float) -> Self:
        """By the incidents whose peaks are shorter than a full queue, if half of them agree.

        Where no overload showed a full queue, the most that a stall found room for is one.
        """
        most = full_queue or max((each.came - each.lost for each in incidents), default=0.0)
        found = [
            incident.came - incident.lost
            for incident in incidents
            if _SMALLEST * most < incident.came - incident.lost
            and incident.came < NEARLY * most
            and incident.crowding < _CROWDED
        ]
        if len(found) < _LEAST_ALIKE:
            return cls(full_queue, None)
        middle = median(found)
        apart = median(abs(math.log(each / middle)) for each in found)
        return cls(most, middle if apart <= _ALIKE else None)

    def log_density(self, incident: LossIncident) -> float:
        """A peak as long as the small buffer and what was lost take to come.

        The peak of a stall is among the longest of its trial; of the causes that have nothing
        to do with the peak, one has so long a peak by a chance of `rank`.
        """
        held = incident.came - incident.lost
        if not self.full_queue or not _SMALLEST * self.full_queue < held:
            return IMPOSSIBLE
        if held > NEARLY * self.full_queue:
            return IMPOSSIBLE
        unlikely = -math.log(incident.rank)
        if self.held is None:
            return LOG_ANY + unlikely + _LOG_RARE
        apart = math.log(held / self.held) / _ALIKE
        return -(apart**2) / 2.0 - math.log(_ALIKE * math.sqrt(2.0 * math.pi)) + unlikely
