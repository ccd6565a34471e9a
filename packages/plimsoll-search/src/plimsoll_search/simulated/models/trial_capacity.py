"""A direction's capacity in one trial: what all behaviours of simulated DUTs begin with."""

from __future__ import annotations

from random import Random

from .dut_model import DutModel


class TrialCapacity:
    """A behaviour's capacity, which is drawn anew with each trial."""

    def __init__(self, model: DutModel, direction: int, chance: Random) -> None:
        self.buffer_frames = float(model.buffer)
        self.capacity_pps = model.capacity_of(direction)
        self.chance = chance
        self._model = model
        self._direction = direction

    def begin_trial(self, now_s: float) -> None:
        """Draw the trial's capacity."""
        self.capacity_pps = self._model.drawn_capacity(self._direction, self.chance)
