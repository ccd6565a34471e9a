"""A DUT that tires: its capacity falls over tens of minutes of load."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...service import Service
from ..dut_model import DutModel, batch_wait_s
from ..trial_capacity import TrialCapacity

# Its fatigue is resolved this finely, as a part of the whole: a fraction of a per mille of
# the capacity.
_STEP = 0.002


class Drift(DutModel):
    """Under full load it loses the share `depth` of its capacity, exponentially in `tiring`.

    Under less load it loses as much less; idle, it comes back in `recovery`. Heat does so,
    and so does memory that becomes fragmented or a table that fills. What the DUT has
    suffered in one trial it brings to the next.
    """

    summary: ClassVar[str] = "capacity falls over tens of minutes under load"
    remembers: ClassVar[bool] = True

    kind: Literal["drift"] = "drift"
    depth: Annotated[RatioField, Field(gt=0, lt=1)] = 0.15
    tiring: Annotated[DurationField, Field(ge=1, le=1e6)] = 1200.0
    recovery: Annotated[DurationField, Field(ge=1, le=1e6)] = 600.0

    def behaviour(self, direction: int, chance: Random) -> DriftBehaviour:
        """A rested direction."""
        return DriftBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of a capacity that is enough at the end, or nearly."""

        def lost(capacity_pps: float) -> float:
            return max(0.0, self._excess(load_pps, capacity_pps, horizon_s) - self.buffer)

        return self.odds_of_losing(direction, limit * load_pps * horizon_s, lost)

    def _excess(self, load_pps: float, capacity_pps: float, horizon_s: float) -> float:
        """Frames above a capacity that falls from the first to what is left in the end."""
        fall_pps = capacity_pps * self.depth * min(1.0, load_pps / capacity_pps)
        above_pps = load_pps - (capacity_pps - fall_pps)
        if above_pps <= 0.0:
            return 0.0
        # The time at which the capacity has fallen to the load.
        met_s = self.tiring * math.log(max(1.0, fall_pps / above_pps))
        if met_s >= horizon_s:
            return 0.0
        fading = math.exp(-met_s / self.tiring) - math.exp(-horizon_s / self.tiring)
        return above_pps * (horizon_s - met_s) - fall_pps * self.tiring * fading


class DriftBehaviour(TrialCapacity):
    """Serves at what the trial's capacity has become."""

    def __init__(self, model: Drift, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._drift = model
        self._tiredness = 0.0
        self._last_s = 0.0
        self._load_pps = 0.0

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """Until it has changed by a step; at the mean of that time."""
        target, constant_s = self._towards()
        left = math.exp(-(now_s - self._last_s) / constant_s)
        self._tiredness = target + (self._tiredness - target) * left
        self._last_s, self._load_pps = now_s, load_pps
        target, constant_s = self._towards()
        to_go = target - self._tiredness
        step = math.copysign(min(abs(to_go), _STEP), to_go)
        lasts_s = math.inf if abs(to_go) <= _STEP else -constant_s * math.log1p(-step / to_go)
        capacity_pps = self.capacity_pps * (1.0 - self._drift.depth * (self._tiredness + step / 2))
        wait_s = batch_wait_s(load_pps, capacity_pps)
        return Service(now_s + lasts_s, capacity_pps, capacity_pps, wait_s)

    def _towards(self) -> tuple[float, float]:
        """Where tiredness goes under the present load, and how fast."""
        if self._load_pps <= 0.0:
            return 0.0, self._drift.recovery
        return min(1.0, self._load_pps / self.capacity_pps), self._drift.tiring
