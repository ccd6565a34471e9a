"""DUTs whose capacity falls while they are under load, slowly or in steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...direction import Service
from ..dut_model import DutModel, TrialCapacity, batch_wait_s

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


_SpanField = Annotated[DurationField, Field(ge=1, le=1e6)]


class CapacitySteps(DutModel):
    """After `first` of load the capacity drops by `size` (a share), then again every `every`.

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
