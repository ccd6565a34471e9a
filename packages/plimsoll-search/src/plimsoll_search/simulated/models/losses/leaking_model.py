"""What DUTs share that lose frames while they still carry the load."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..dut_model import DutModel
from .compound_loss import LossEvents


class LeakingModel(DutModel, ABC):
    """A DUT that loses frames on top of its load's excess over the capacity of the trial."""

    @abstractmethod
    def losses(self, load_pps: float, capacity_pps: float) -> LossEvents:
        """Those of a load, in a trial with that capacity."""

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """By the distribution of these losses, over all capacities of a trial."""
        needed_pps = self.needed_pps(load_pps, limit, horizon_s)
        capacities = self.likely_capacities(direction)
        odds = 0.0
        for capacity_pps in capacities:
            if needed_pps <= capacity_pps:
                within = max(0.0, load_pps - capacity_pps) * horizon_s
                budget = limit * load_pps * horizon_s - within
                odds += self.losses(load_pps, capacity_pps).odds_of_at_most(budget, horizon_s)
        return odds / len(capacities)
