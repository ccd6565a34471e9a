"""Frames are lost without having waited: in a queue too short to see, or on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from .hypothesis import LOG_ANY, NEARLY, HypothesisName
from .incident import LossIncident

# By chance, a peak as long as a full queue comes together with such a loss so seldom.
_LOG_COINCIDENCE = -6.0


@dataclass(frozen=True, slots=True)
class SporadicHypothesis:
    """A peak has nothing to do with the loss, and is shorter than a full queue."""

    name: ClassVar[HypothesisName] = "sporadic"
    full_queue: float

    @classmethod
    def fitted(cls, incidents: Sequence[LossIncident], full_queue: float) -> Self:
        """Its only parameter is the queue."""
        return cls(full_queue)

    def log_density(self, incident: LossIncident) -> float:
        """What any other explanation has to exceed."""
        waited = incident.came >= NEARLY * self.full_queue and incident.came > 0.0
        return LOG_ANY + (_LOG_COINCIDENCE if waited else 0.0)
