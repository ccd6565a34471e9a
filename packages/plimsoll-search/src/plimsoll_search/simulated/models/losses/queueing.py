"""A DUT in which work comes and goes in bursts, so that a queue grows as the load does."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ...service import Service
from ..trial_capacity import TrialCapacity
from .compound_loss import LossEvents
from .leaking_model import LeakingModel


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
