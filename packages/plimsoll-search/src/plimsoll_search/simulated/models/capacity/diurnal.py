"""A DUT whose capacity goes slowly up and down, as the day does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...direction import Service
from ..dut_model import DutModel, TrialCapacity, batch_wait_s

# Steps of a period in which the capacity stays the same. With a depth of 20 % none is further
# than 0.03 % from the sine.
_STEPS = 1024
# Beginnings of a soak, evenly over a period; odds are exact to a half of that.
_BEGINNINGS = 256


class Diurnal(DutModel):
    """Its capacity falls by up to the share `depth` and comes back, as a cosine of `period`.

    Others share the host, its power or its cooling. It does not matter what it carries.
    Each direction is at a phase of its own, of which any is as likely.
    """

    summary: ClassVar[str] = "capacity goes up and down over hours"

    kind: Literal["diurnal"] = "diurnal"
    period: Annotated[DurationField, Field(ge=60, le=1e7)] = 14_400.0
    depth: Annotated[RatioField, Field(gt=0, lt=1)] = 0.1

    def behaviour(self, direction: int, chance: Random) -> DiurnalBehaviour:
        """A direction at any phase."""
        return DiurnalBehaviour(self, direction, chance)

    def left(self, phase: float) -> float:
        """The share of the capacity that is left at this phase, in periods since the most."""
        return 1.0 - self.depth * (1.0 - math.cos(2.0 * math.pi * phase)) / 2.0

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The mean of the odds of soaks that begin at any phase, by a capacity that is enough."""
        budget = limit * load_pps * horizon_s
        odds = 0.0
        for number in range(_BEGINNINGS):
            begin = (number + 0.5) / _BEGINNINGS
            odds += self._odds(
                direction, load_pps, budget, (begin, begin + horizon_s / self.period)
            )
        return odds / _BEGINNINGS

    def _odds(
        self, direction: int, load_pps: float, budget_frames: float, phases: tuple[float, float]
    ) -> float:
        def lost(capacity_pps: float) -> float:
            arcs = self._arcs(load_pps, capacity_pps, *phases)
            return sum(max(0.0, excess - self.buffer) for excess in arcs)

        return self.odds_of_losing(direction, budget_frames, lost)

    def _arcs(
        self, load_pps: float, capacity_pps: float, begin: float, end: float
    ) -> Iterator[float]:
        """Frames above the capacity, in each time that the load is above it."""
        mean_above_pps = load_pps - capacity_pps * (1.0 - self.depth / 2.0)
        swing_pps = capacity_pps * self.depth / 2.0
        # Above it is where cos(2 pi phase) < mean_above / swing.
        edge = math.acos(max(-1.0, min(1.0, mean_above_pps / swing_pps))) / (2.0 * math.pi)

        def until(phase: float) -> float:
            swung = math.sin(2.0 * math.pi * phase) / (2.0 * math.pi)
            return self.period * (mean_above_pps * phase - swing_pps * swung)

        for number in range(math.floor(begin), math.floor(end) + 1):
            first, last = max(begin, number + edge), min(end, number + 1.0 - edge)
            if last > first:
                yield until(last) - until(first)


class DiurnalBehaviour(TrialCapacity):
    """Serves at what the hour leaves of the trial's capacity."""

    def __init__(self, model: Diurnal, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._diurnal = model
        self._step_s = model.period / _STEPS
        self._begin_s = chance.random() * model.period

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """The same for a step, at the capacity in the middle of it."""
        number = math.floor((now_s + self._begin_s) / self._step_s)
        until_s = (number + 1) * self._step_s - self._begin_s
        if until_s <= now_s:
            number, until_s = number + 1, until_s + self._step_s
        left = self._diurnal.left((number + 0.5) / _STEPS)
        capacity_pps = self.capacity_pps * left
        return Service(until_s, capacity_pps, capacity_pps, batch_wait_s(load_pps, capacity_pps))
