"""DUTs that lose frames while they still carry the load."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...direction import Service
from ..dut_model import DutModel, TrialCapacity, batch_wait_s
from .compound_loss import LossEvents


class LeakingModel(DutModel, ABC):
    """A DUT that loses frames on top of its load's excess over the capacity of the trial."""

    @abstractmethod
    def losses(self, load_pps: float, capacity_pps: float) -> LossEvents:
        """Those of a load, in a trial with that capacity."""

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """By the distribution of these losses, over all capacities of a trial."""
        needed_pps = self.needed_pps(load_pps, limit, horizon_s)
        capacities = self.likely_capacities(direction)
        odds = 0.0
        for capacity_pps in capacities:
            if needed_pps <= capacity_pps:
                within = max(0.0, load_pps - capacity_pps) * horizon_s
                budget = limit * load_pps * horizon_s - within
                odds += self.losses(load_pps, capacity_pps).odds_of_at_most(budget, horizon_s)
        return odds / len(capacities)


class Queueing(LeakingModel):
    """A queue in heavy traffic: its mean length is `burstiness` ÷ (2 (1 - utilisation)) frames.

    That is an M/D/1 queue for a burstiness of 1, and one of arrivals in bursts of 32, or
    of a service that is as irregular, for 32. Its length is exponentially distributed,
    cut off at the buffer: what reaches that is lost. Utilisation is load ÷ capacity.
    """

    summary: ClassVar[str] = "latency grows as a queue does, long before anything is lost"

    kind: Literal["queueing"] = "queueing"
    burstiness: Annotated[float, Field(gt=0, le=4096)] = 32.0

    def behaviour(self, direction: int, chance: Random) -> QueueingBehaviour:
        """A direction at its capacity of the trial."""
        return QueueingBehaviour(self, direction, chance)

    def losses(self, load_pps: float, capacity_pps: float) -> LossEvents:
        """What overflows on top of the load's excess over the capacity.

        A reflected Brownian motion with drift d = |1 - utilisation| and variance b =
        `burstiness` loses d ÷ (exp(2 d B ÷ b) - 1) at a barrier B, as a share of the
        capacity; each time it comes there, b ÷ (2 d) frames in the mean.
        """
        apart = abs(1.0 - load_pps / capacity_pps)
        exponent = 2.0 * apart * self.buffer / self.burstiness
        if exponent > 100.0:
            return LossEvents(0.0, 1.0)
        # The limit for a load that is the capacity.
        share = apart / math.expm1(exponent) if exponent > 1e-6 else self._share_at_capacity
        cluster = min(self.mean_frames(load_pps, capacity_pps), float(self.buffer))
        return LossEvents.losing(capacity_pps * share, cluster)

    def mean_frames(self, load_pps: float, capacity_pps: float) -> float:
        """The mean of the exponential that the queue's length has, not cut off."""
        apart = abs(1.0 - load_pps / capacity_pps)
        return self.burstiness / 2.0 / max(apart, 1e-9)

    @property
    def _share_at_capacity(self) -> float:
        return self.burstiness / 2.0 / self.buffer


class QueueingBehaviour(TrialCapacity):
    """Serves at the trial's capacity; the queue's coming and going is a wait and losses."""

    def __init__(self, model: Queueing, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._queueing = model

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """The same until the load changes."""
        capacity_pps = self.capacity_pps
        frames = self._queueing.mean_frames(load_pps, capacity_pps)
        # An exponential that is cut off has at most half of the buffer as its mean.
        wait_s = load_pps / capacity_pps * min(frames, self.buffer_frames / 2) / capacity_pps
        losses = self._queueing.losses(load_pps, capacity_pps) if load_pps else (0.0, 1.0)
        return Service(math.inf, capacity_pps, capacity_pps, wait_s, *losses)


class RandomLoss(DutModel):
    """Loses the share `loss` of all frames, at random, `run` at a time in the mean.

    As a marginal optic or a checksum error does: a share far below what a loss ratio
    allows, and yet no load is free of it.
    """

    summary: ClassVar[str] = "a floor of random loss at any load"

    kind: Literal["random-loss"] = "random-loss"
    loss: Annotated[RatioField, Field(le=0.5)] = 1e-7
    run: Annotated[float, Field(ge=1, le=1000)] = 1.0

    def behaviour(self, direction: int, chance: Random) -> RandomLossBehaviour:
        """A direction at its capacity of the trial."""
        return RandomLossBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of few enough random losses in a trial with capacity enough."""
        odds = self.odds_of_capacity(direction, self.needed_pps(load_pps, limit, horizon_s))
        budget = limit * load_pps * horizon_s
        return odds * self.losses(load_pps).odds_of_at_most(budget, horizon_s)

    def losses(self, load_pps: float) -> LossEvents:
        """Those of a load."""
        return LossEvents.losing(self.loss * load_pps, self.run)


class RandomLossBehaviour(TrialCapacity):
    """Serves at the trial's capacity, and loses at random."""

    def __init__(self, model: RandomLoss, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._losing = model

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """The same until the load changes."""
        capacity_pps = self.capacity_pps
        # What does not fit into the buffer is not there to be lost at random.
        losses = self._losing.losses(min(load_pps, capacity_pps))
        wait_s = batch_wait_s(load_pps, capacity_pps)
        return Service(math.inf, capacity_pps, capacity_pps, wait_s, *losses)


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
