"""What the simulated DUTs share that have one capacity through a trial and nothing else."""

from __future__ import annotations

import math
from random import Random

from ...service import Service
from ..dut_model import DutModel, batch_wait_s
from ..trial_capacity import TrialCapacity


class Steady(DutModel):
    """Loses nothing up to its capacity, and what is beyond it once the buffer is full."""

    def behaviour(self, direction: int, chance: Random) -> SteadyBehaviour:
        """A direction at its capacity of the trial."""
        return SteadyBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of a trial whose capacity, and the buffer once, are enough."""
        return self.odds_of_capacity(direction, self.needed_pps(load_pps, limit, horizon_s))


class SteadyBehaviour(TrialCapacity):
    """Serves at one capacity through a trial."""

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """The same until the load changes."""
        wait_s = batch_wait_s(load_pps, self.capacity_pps)
        return Service(math.inf, self.capacity_pps, self.capacity_pps, wait_s)
