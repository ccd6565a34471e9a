"""How stalls of one kind come: at random, or one each period."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Without a period they are a Poisson process; with one, their number is that of the periods.

    Each method takes `per_s`, how often stalls beyond a threshold were seen to come, and says
    something of those that exceed it by far: a share of them.
    """

    period_s: float | None = None

    def chance_of_none(self, per_s: float, share: float, duration_s: float) -> float:
        """The chance that none in `duration_s` is among this share of the longest."""
        if self.period_s is None:
            return math.exp(-per_s * duration_s * share)
        each = share * self._share_beyond_threshold(per_s, self.period_s)
        periods = duration_s / self.period_s
        # The phase is not known: one more or one less, in proportion to what is left over.
        whole = math.floor(periods)
        return math.pow(1.0 - each, whole) * (1.0 - (periods - whole) * each)

    def _share_beyond_threshold(self, per_s: float, period_s: float) -> float:
        """No more than all: where one interval hid several, `per_s` is too high."""
        return min(1.0, per_s * period_s)


RANDOM = Arrivals()
