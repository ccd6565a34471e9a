"""DUTs that have one capacity through a trial, and nothing else."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...away_times import AwayTimes
from ...direction import Service
from ..dut_model import CapacityField, DutModel, TrialCapacity, batch_wait_s


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


class FixedCapacity(Steady):
    """Forwards up to its capacity and no more."""

    summary: ClassVar[str] = "forwards up to its capacity and no more"

    kind: Literal["fixed-capacity"] = "fixed-capacity"


class Asymmetric(Steady):
    """Like `fixed-capacity`, with another capacity, `reverse`, in every second direction."""

    summary: ClassVar[str] = "two directions with different capacities"

    kind: Literal["asymmetric"] = "asymmetric"
    reverse: CapacityField = 0.7e6

    def capacity_of(self, direction: int) -> float:
        """`capacity` of even directions, `reverse` of odd ones."""
        return self.reverse if direction % 2 else self.capacity


class StallingTester(Steady):
    """Like `fixed-capacity`; each polling loop of the tester is away now and then.

    With exponential gaps of the mean `period`, for log-normal lengths of the median
    `length`: what a machine does that shares its CPUs.
    """

    summary: ClassVar[str] = "a good DUT and a tester whose own loops are away now and then"

    kind: Literal["stalling-tester"] = "stalling-tester"
    period: Annotated[DurationField, Field(ge=1e-3, le=86_400)] = 2.0
    length: Annotated[DurationField, Field(ge=1e-6, le=10)] = 2e-3
    length_deviation: Annotated[RatioField, Field(gt=0, le=3)] = 0.9

    @property
    def tester_away(self) -> AwayTimes:
        """As set."""
        return AwayTimes(self.period, self.length, self.length_deviation)
