"""A DUT that is away now and then: what limits a load then is its buffer, not its capacity."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from plimsoll.generator.simulated.models.compound_loss import odds_of_sum_at_most
from plimsoll.generator.simulated.models.dut_model import DutModel, batch_wait_s
from plimsoll.generator.simulated.models.stall_length import Distribution, StallLength
from plimsoll.generator.simulated.models.stalled_queue import StalledQueue
from plimsoll.generator.simulated.models.trial_capacity import TrialCapacity
from plimsoll.generator.simulated.service import Service
from plimsoll.text.units import DurationField, RatioField

# With so much of the capacity to spare, the queue of a stall is gone before the next one.
_AMPLE_SPARE, _AMPLE_DEVIATIONS = 0.02, 10.0


class RareStalls(DutModel):
    """Serves at its capacity, but for stalls: each direction has its own.

    They come every `period`, or with exponential gaps of that mean (`timing`). `length` is
    that of all stalls, the mean of exponential ones or the median of log-normal ones
    (`distribution`, `length_deviation`). While the DUT is away frames queue; those that
    the buffer has no room for are lost, and the others are late by up to the stall.
    """

    summary: ClassVar[str] = "is away for milliseconds now and then; the buffer bridges some of it"

    kind: Literal["rare-stalls"] = "rare-stalls"
    timing: Literal["regular", "random"] = "random"
    period: Annotated[DurationField, Field(ge=1e-3, le=86_400)] = 5.0
    distribution: Distribution = "lognormal"
    length: Annotated[DurationField, Field(ge=1e-6, le=10)] = 2e-3
    length_deviation: Annotated[RatioField, Field(gt=0, le=3)] = 0.25

    @property
    def lengths(self) -> StallLength:
        """Their distribution."""
        return StallLength(self.distribution, self.length, self.length_deviation)

    @property
    def away_share(self) -> float:
        """The share of the time that it is away."""
        mean_s = self.lengths.mean_s
        return mean_s / (self.period if self.timing == "regular" else self.period + mean_s)

    def behaviour(self, direction: int, chance: Random) -> RareStallsBehaviour:
        """A direction with stalls of its own."""
        return RareStallsBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of stalls that lose little, over the capacities of a trial.

        Random stalls may come in a row. Regular ones find the queue empty where a full
        buffer drains in the time between them; nearer to the capacity they are taken for
        random ones, which are a little worse.
        """
        needed_pps = self.needed_pps(load_pps, limit, horizon_s)
        if self.away_share >= 1.0 or not self.odds_of_capacity(direction, needed_pps):
            return 0.0
        budget = limit * load_pps * horizon_s
        odds = 0.0
        for capacity_pps, weight in self._capacities(direction, load_pps):
            if capacity_pps * (1.0 - self.away_share) >= needed_pps:
                odds += weight * self._odds(load_pps, capacity_pps, budget, horizon_s)
        return odds

    def _capacities(self, direction: int, load_pps: float) -> list[tuple[float, float]]:
        """Capacities of a trial with their probabilities, only one where it does not matter."""
        mean_pps = self.capacity_of(direction)
        spare = 1.0 - load_pps / mean_pps
        if spare > max(_AMPLE_SPARE, _AMPLE_DEVIATIONS * self.capacity_deviation):
            return [(mean_pps, 1.0)]
        likely = self.likely_capacities(direction)
        return [(capacity_pps, 1.0 / len(likely)) for capacity_pps in likely]

    def _odds(
        self, load_pps: float, capacity_pps: float, budget_frames: float, horizon_s: float
    ) -> float:
        """Of stalls that lose no more than the budget, at one capacity."""
        apart = self.timing == "regular" and (
            (capacity_pps - load_pps) * (self.period - self.lengths.mean_s) >= self.buffer
        )
        mean_gap_s = None if apart else self.period
        queue = StalledQueue(self.lengths, load_pps, capacity_pps, float(self.buffer), mean_gap_s)
        events = horizon_s * self.away_share / self.lengths.mean_s * queue.odds_of_loss
        if not events:
            return 1.0
        return odds_of_sum_at_most(
            budget_frames,
            events,
            queue.mean_loss_frames / queue.odds_of_loss,
            queue.mean_square_loss / queue.odds_of_loss,
        )


class RareStallsBehaviour(TrialCapacity):
    """Serves at the trial's capacity until the next stall."""

    def __init__(self, model: RareStalls, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._regular = model.timing == "regular"
        self._period_s = model.period
        self._lengths = model.lengths
        self._begin_s = self.chance.random() * self._period_s
        self._end_s = self._begin_s + self._lengths.drawn(chance)

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """Nothing while it is away, else until it will be."""
        while now_s >= self._end_s:
            self._draw_next()
        capacity_pps = self.capacity_pps
        if now_s >= self._begin_s:
            return Service(self._end_s, 0.0, capacity_pps, 0.0)
        wait_s = batch_wait_s(load_pps, capacity_pps)
        return Service(self._begin_s, capacity_pps, capacity_pps, wait_s)

    def _draw_next(self) -> None:
        if self._regular:
            self._begin_s = max(self._begin_s + self._period_s, self._end_s)
        else:
            self._begin_s = self._end_s + self.chance.expovariate(1.0 / self._period_s)
        length_s = self._lengths.drawn(self.chance)
        # A length below the clock's resolution would never end.
        self._end_s = max(self._begin_s + length_s, math.nextafter(self._begin_s, math.inf))
