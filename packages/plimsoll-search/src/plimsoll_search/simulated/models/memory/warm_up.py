"""A DUT that has to get warm: it carries less at first, each time it was idle."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...service import Service
from ..dut_model import DutModel, batch_wait_s
from ..trial_capacity import TrialCapacity


class WarmUp(DutModel):
    """Carries the share `cold` of its capacity until it has been under load for `warmup`.

    It is cold again after `idle` without a frame: flow tables have aged, a governor has
    lowered the clock. The drain of a trial is long enough for that by default.
    """

    summary: ClassVar[str] = "carries less in the first seconds after it was idle"
    remembers: ClassVar[bool] = True

    kind: Literal["warm-up"] = "warm-up"
    cold: Annotated[RatioField, Field(gt=0, le=1)] = 0.9
    warmup: Annotated[DurationField, Field(gt=0, le=3600)] = 2.0
    idle: Annotated[DurationField, Field(ge=0, le=86_400)] = 1.0

    def behaviour(self, direction: int, chance: Random) -> WarmUpBehaviour:
        """A cold direction."""
        return WarmUpBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of a capacity with which the cold start costs little enough."""
        cold_s = min(self.warmup, horizon_s)

        def lost(capacity_pps: float) -> float:
            at_first = max(0.0, (load_pps - self.cold * capacity_pps) * cold_s - self.buffer)
            later = max(0.0, load_pps - capacity_pps) * (horizon_s - cold_s)
            return at_first + max(0.0, later - (0.0 if at_first else self.buffer))

        return self.odds_of_losing(direction, limit * load_pps * horizon_s, lost)


class WarmUpBehaviour(TrialCapacity):
    """Serves at the trial's capacity once it is warm."""

    def __init__(self, model: WarmUp, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._cold = model.cold
        self._warmup_s = model.warmup
        self._idle_s = model.idle
        self._loaded_until_s = -math.inf
        self._loaded_s = 0.0
        self._last_s = 0.0
        self._load_pps = 0.0

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """At less until it is warm, should the load stay."""
        self._account(now_s)
        self._load_pps = load_pps
        left_s = self._warmup_s - self._loaded_s
        # What is left of it may be less than the clock resolves.
        if load_pps <= 0.0 or now_s + left_s <= now_s:
            capacity_pps, until_s = self.capacity_pps, math.inf
        else:
            capacity_pps, until_s = self._cold * self.capacity_pps, now_s + left_s
        return Service(until_s, capacity_pps, capacity_pps, batch_wait_s(load_pps, capacity_pps))

    def _account(self, now_s: float) -> None:
        """For the time since the last call: under load it gets warm, without it cold."""
        if self._load_pps > 0.0:
            self._loaded_s += now_s - self._last_s
            self._loaded_until_s = now_s
        if now_s - self._loaded_until_s > self._idle_s:
            self._loaded_s = 0.0
        self._last_s = now_s
