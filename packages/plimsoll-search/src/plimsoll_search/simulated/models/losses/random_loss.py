"""A DUT that loses a frame now and then at any load."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import RatioField
from ...service import Service
from ..dut_model import DutModel, batch_wait_s
from ..trial_capacity import TrialCapacity
from .compound_loss import LossEvents


class RandomLoss(DutModel):
    """Loses the share `loss` of all frames, at random, `run` at a time in the mean.

    As a marginal optic or a checksum error does: a share far below what a loss ratio
    allows, and yet no load is free of it.
    """

    summary: ClassVar[str] = "a floor of random loss at any load"

    kind: Literal["random-loss"] = "random-loss"
    loss: Annotated[RatioField, Field(le=0.5)] = 1e-7
    run: Annotated[float, Field(ge=1, le=1000)] = 1.0

    def behaviour(self, direction: int, chance: Random) -> RandomLossBehaviour:
        """A direction at its capacity of the trial."""
        return RandomLossBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of few enough random losses in a trial with capacity enough."""
        odds = self.odds_of_capacity(direction, self.needed_pps(load_pps, limit, horizon_s))
        budget = limit * load_pps * horizon_s
        return odds * self.losses(load_pps).odds_of_at_most(budget, horizon_s)

    def losses(self, load_pps: float) -> LossEvents:
        """Those of a load."""
        return LossEvents.losing(self.loss * load_pps, self.run)


class RandomLossBehaviour(TrialCapacity):
    """Serves at the trial's capacity, and loses at random."""

    def __init__(self, model: RandomLoss, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._losing = model

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """The same until the load changes."""
        capacity_pps = self.capacity_pps
        # What does not fit into the buffer is not there to be lost at random.
        losses = self._losing.losses(min(load_pps, capacity_pps))
        wait_s = batch_wait_s(load_pps, capacity_pps)
        return Service(math.inf, capacity_pps, capacity_pps, wait_s, *losses)
