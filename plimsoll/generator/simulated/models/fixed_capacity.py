"""A DUT that forwards up to its capacity and no more: the best that can be."""

from __future__ import annotations

import math
from random import Random
from typing import ClassVar, Literal

from plimsoll.generator.simulated.models.dut_model import DutModel, batch_wait_s
from plimsoll.generator.simulated.service import Service


class FixedCapacity(DutModel):
    """Loses nothing up to its capacity, and what is beyond it once the buffer is full."""

    summary: ClassVar[str] = "forwards up to its capacity and no more"

    kind: Literal["fixed-capacity"] = "fixed-capacity"

    def behaviour(self, direction: int, chance: Random) -> FixedCapacityBehaviour:
        """A direction at its capacity of the trial."""
        return FixedCapacityBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of a trial whose capacity, and the buffer once, are enough."""
        needed_pps = load_pps * (1.0 - limit) - self.buffer / horizon_s
        return self.odds_of_capacity(direction, needed_pps)


class FixedCapacityBehaviour:
    """Serves at one capacity through a trial."""

    def __init__(self, model: DutModel, direction: int, chance: Random) -> None:
        self.buffer_frames = float(model.buffer)
        self._model = model
        self._direction = direction
        self._chance = chance
        self._capacity_pps = model.capacity_of(direction)

    def begin_trial(self, now_s: float) -> None:
        """Draw the trial's capacity."""
        self._capacity_pps = self._model.drawn_capacity(self._direction, self._chance)

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """The same until the load changes."""
        capacity_pps = self._capacity_pps
        wait_s = batch_wait_s(load_pps, capacity_pps)
        return Service(math.inf, capacity_pps, capacity_pps, wait_s)
