"""A DUT whose capacity trembles, so that loss sets in before the load reaches it."""

from __future__ import annotations

import math
from random import Random
from statistics import NormalDist
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from plimsoll.generator.simulated.models.compound_loss import LossEvents, odds_of_at_most
from plimsoll.generator.simulated.models.dut_model import DutModel, batch_wait_s
from plimsoll.generator.simulated.models.trial_capacity import TrialCapacity
from plimsoll.generator.simulated.service import Service
from plimsoll.traffic.units import DurationField, RatioField

_NORMAL = NormalDist()


class SoftKnee(DutModel):
    """Its capacity is another one each `span`, normally distributed by the share `knee`.

    What is beyond it in a span is lost: there is no buffer to speak of against that. So
    loss rises smoothly: one frame in a thousand millions at 94 % of the capacity, one in
    fifty thousand at 97.5 %, one in 250 at 100 %, with a knee of 1 %.
    """

    summary: ClassVar[str] = "loss rises smoothly as the load nears the capacity"

    kind: Literal["soft-knee"] = "soft-knee"
    knee: Annotated[RatioField, Field(gt=0, le=0.2)] = 0.01
    span: Annotated[DurationField, Field(ge=1e-5, le=1)] = 1e-3

    def behaviour(self, direction: int, chance: Random) -> SoftKneeBehaviour:
        """A direction at its capacity of the trial."""
        return SoftKneeBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """By the events' compound Poisson distribution, and the odds of capacity enough.

        The trial's capacity is drawn in twenty equally likely steps.
        """
        odds = 0.0
        for capacity_pps in self.likely_capacities(direction):
            if load_pps * (1.0 - limit) <= capacity_pps + self.buffer / horizon_s:
                events = self.losses(load_pps, capacity_pps)
                budget = limit * load_pps * horizon_s
                odds += odds_of_at_most(budget, events.for_s(horizon_s))
        return odds / len(self.likely_capacities(direction))
