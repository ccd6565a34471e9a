"""A DUT whose capacity trembles, so that loss sets in before the load reaches it."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...service import Service
from ..dut_model import batch_wait_s
from ..trial_capacity import TrialCapacity
from .compound_loss import LossEvents
from .leaking_model import LeakingModel

_SQRT_2 = math.sqrt(2.0)
_SQRT_2_PI = math.sqrt(2.0 * math.pi)


class SoftKnee(LeakingModel):
    """Its capacity is another one each `span`, normally distributed by the share `knee`.

    What a span has too much is lost: no buffer is large enough against that. So loss
    rises smoothly: with a knee of 1 %, a frame in two thousand millions is lost at 95 %
    of the capacity, one in fifty thousand at 97.5 %, one in 250 at 100 %.
    """

    summary: ClassVar[str] = "loss rises smoothly as the load nears the capacity"

    kind: Literal["soft-knee"] = "soft-knee"
    knee: Annotated[RatioField, Field(gt=0, le=0.2)] = 0.01
    span: Annotated[DurationField, Field(ge=1e-5, le=1)] = 1e-3

    def behaviour(self, direction: int, chance: Random) -> SoftKneeBehaviour:
        """A direction at its capacity of the trial."""
        return SoftKneeBehaviour(self, direction, chance)

    def losses(self, load_pps: float, capacity_pps: float) -> LossEvents:
        """What the jitter loses on top of the load's excess over the capacity."""
        deviation_pps = self.knee * capacity_pps
        apart = abs(capacity_pps - load_pps) / deviation_pps
        lossy = math.erfc(apart / _SQRT_2) / 2.0
        beyond = max(0.0, math.exp(-apart * apart / 2.0) / _SQRT_2_PI - apart * lossy)
        if lossy == 0.0:
            return LossEvents(0.0, 1.0)
        # Of the spans that lose anything, the mean.
        frames = deviation_pps * self.span * beyond / lossy
        return LossEvents.losing(deviation_pps * beyond, frames)


class SoftKneeBehaviour(TrialCapacity):
    """Serves at the trial's mean capacity; the trembling is events of loss."""

    def __init__(self, model: SoftKnee, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._knee = model

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """The same until the load changes."""
        capacity_pps = self.capacity_pps
        losses = self._knee.losses(load_pps, capacity_pps) if load_pps else LossEvents(0.0, 1.0)
        wait_s = batch_wait_s(load_pps, capacity_pps)
        return Service(math.inf, capacity_pps, capacity_pps, wait_s, *losses)
