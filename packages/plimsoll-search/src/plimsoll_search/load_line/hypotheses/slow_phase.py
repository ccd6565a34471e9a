"""The DUT serves on, but at less than its capacity: the queue is full, and stays so.

Whatever a phase loses and however long it lasts, a frame waits for no longer than a full queue
takes at the capacity that is left. So peaks say what is left, by Little's law, and are as alike
as the phases are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import ClassVar, Self

from .hypothesis import (
    AT_ONCE,
    IMPOSSIBLE,
    LOG_ANY,
    HypothesisName,
)
from .incident import LossIncident

# Peaks of phases that leave the same capacity differ by so much, as a share.
_ALIKE = 0.02
_LEAST_ALIKE = 5
# What leaves more of the load than this is a queue that happens to be full at that load.
_MOST_LEFT = 0.99
# Latencies are whole nanoseconds.
_LEAST_S = 1e-10
# A phase that leaves less than this share of the load is as good as a stall.
_LEAST_LEFT = 0.2


@dataclass(frozen=True, slots=True)
class SlowPhaseHypothesis:
    """Phases that leave `left_pps`; None where each leaves another capacity, or few are known."""

    name: ClassVar[HypothesisName] = "slow-phase"
    full_queue: float
    left_pps: float | None

    @classmethod
    def fitted(cls, incidents: Sequence[LossIncident], full_queue: float) -> Self:
        """All at once, by the median of their peaks, if half of them are alike."""
        left = [full_queue / each.peak_s for each in incidents if each.peak_s > _LEAST_S]
        if not full_queue or len(left) < _LEAST_ALIKE:
            return cls(full_queue, None)
        middle = median(left)
        apart = median(abs(math.log(each / middle)) for each in left)
        return cls(full_queue, middle if apart <= _ALIKE else None)

    def left_of(self, incident: LossIncident) -> float:
        """The capacity that an incident's phase left, in pps."""
        return self.full_queue / incident.peak_s

    def log_density(self, incident: LossIncident) -> float:
        """A peak between that of the load's own full queue and five times as much."""
        if not self.full_queue or incident.peak_s <= _LEAST_S:
            return IMPOSSIBLE
        left = self.left_of(incident)
        if not _LEAST_LEFT * incident.load_pps <= left < _MOST_LEFT * incident.load_pps:
            return IMPOSSIBLE
        if incident.lost > AT_ONCE * (incident.load_pps - left) * incident.seconds:
            return IMPOSSIBLE
        if self.left_pps is None:
            return LOG_ANY
        apart = math.log(left / self.left_pps) / _ALIKE
        return -(apart**2) / 2.0 - math.log(_ALIKE * math.sqrt(2.0 * math.pi))
