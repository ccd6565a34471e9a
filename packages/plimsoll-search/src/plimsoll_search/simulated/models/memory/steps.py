"""A DUT whose capacity falls in steps while it is under load."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...service import Service
from ..dut_model import DutModel, batch_wait_s
from ..trial_capacity import TrialCapacity

_SpanField = Annotated[DurationField, Field(ge=1, le=1e6)]


class CapacitySteps(DutModel):
    """After `first` under any load its capacity falls by the share `size`, again each `every`.

    There are `count` steps, each of the whole capacity, and together less than all of it: a
    table that is full sends its flows to a slower one, a memory channel or a fan fails. It
    begins anew after `idle` without a load. With a count of 1 it is one step, once.
    """

    summary: ClassVar[str] = "capacity falls in steps, the longer it is under load"
    remembers: ClassVar[bool] = True

    kind: Literal["steps"] = "steps"
    first: _SpanField = 1200.0
    every: _SpanField = 1200.0
    count: Annotated[int, Field(ge=1, le=9)] = 3
    size: Annotated[RatioField, Field(gt=0, le=0.1)] = 0.05
    idle: Annotated[DurationField, Field(ge=0, le=86_400)] = 60.0

    def behaviour(self, direction: int, chance: Random) -> StepsBehaviour:
        """A direction that has not been under load."""
        return StepsBehaviour(self, direction, chance)

    def left(self, steps: int) -> float:
        """The share of the capacity that is left after so many steps."""
        return 1.0 - self.size * steps

    def step_s(self, number: int) -> float:
        """After how long under load this step comes, the first being 0; infinity for none."""
        return self.first + number * self.every if number < self.count else math.inf

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of a capacity that is enough after the last step, or nearly."""

        def lost(capacity_pps: float) -> float:
            excess = sum(
                span_s * max(0.0, load_pps - capacity_pps * self.left(steps))
                for steps, span_s in self._spans(horizon_s)
            )
            return max(0.0, excess - self.buffer)

        return self.odds_of_losing(direction, limit * load_pps * horizon_s, lost)

    def _spans(self, horizon_s: float) -> Iterator[tuple[int, float]]:
        """By the number of steps taken, how long the load has so much."""
        begin_s = 0.0
        for steps in range(self.count + 1):
            end_s = min(self.step_s(steps), horizon_s)
            yield steps, max(0.0, end_s - begin_s)
            begin_s = end_s


class StepsBehaviour(TrialCapacity):
    """Serves at what the steps have left of the trial's capacity."""

    def __init__(self, model: CapacitySteps, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._stepping = model
        self._steps = 0
        self._loaded_s = 0.0
        self._loaded_until_s = -math.inf
        self._last_s = 0.0
        self._load_pps = 0.0

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """The same until the next step, should the load stay."""
        self._account(now_s)
        self._load_pps = load_pps
        left_s = self._stepping.step_s(self._steps) - self._loaded_s
        # What is left of it may be less than the clock resolves.
        if now_s + left_s <= now_s:
            self._steps += 1
            left_s = self._stepping.step_s(self._steps) - self._loaded_s
        capacity_pps = self.capacity_pps * self._stepping.left(self._steps)
        until_s = now_s + left_s if load_pps > 0.0 else math.inf
        return Service(until_s, capacity_pps, capacity_pps, batch_wait_s(load_pps, capacity_pps))

    def _account(self, now_s: float) -> None:
        """Of the time since the last call: load counts, and long idleness ends the count."""
        if self._load_pps > 0.0:
            self._loaded_s += now_s - self._last_s
            self._loaded_until_s = now_s
        if now_s - self._loaded_until_s > self._stepping.idle:
            self._loaded_s, self._steps = 0.0, 0
        self._last_s = now_s
