"""What every explanation of an incident has: a name, and how likely it makes what was seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, Protocol, Self

from .incident import LossIncident

HypothesisName = Literal["stall", "small-buffer", "slow-phase", "sporadic"]

# What waits in overload is known about so well.
NEARLY = 0.97
# So many directions may lose frames in the same incident, and a little more.
AT_ONCE = 3
# A latency of which no more is known than its order of magnitude, per natural logarithm.
LOG_ANY = -math.log(math.log(10.0))
IMPOSSIBLE = -math.inf


class Hypothesis(Protocol):
    """One explanation, fitted to the incidents that it is to explain."""

    @property
    def name(self) -> HypothesisName:
        """What it says happened."""

    @classmethod
    def fitted(cls, incidents: Sequence[LossIncident], full_queue: float) -> Self:
        """As these incidents make it likeliest.

        `full_queue` frames wait in plain overload; 0 where that is not known.
        """

    def log_density(self, incident: LossIncident) -> float:
        """Of the incident's peak, given what it lost; per natural logarithm of the peak."""
