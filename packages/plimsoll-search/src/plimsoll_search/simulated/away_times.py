"""When a polling loop of a simulated tester is away."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import NamedTuple


class Away(NamedTuple):
    """A loop is away from `begin_s` to `end_s` of simulated time."""

    begin_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        """How long."""
        return self.end_s - self.begin_s


@dataclass(frozen=True, slots=True)
class AwayTimes:
    """How often a loop is away and for how long: exponential gaps, log-normal lengths."""

    mean_gap_s: float
    median_s: float
    deviation: float

    def after(self, now_s: float, chance: Random) -> Away:
        """The next time it is away."""
        begin_s = now_s + chance.expovariate(1.0 / self.mean_gap_s)
        return Away(
            begin_s, begin_s + chance.lognormvariate(math.log(self.median_s), self.deviation)
        )
