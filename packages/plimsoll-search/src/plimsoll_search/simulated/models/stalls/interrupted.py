"""What DUTs share that carry less, or nothing, for a while now and then."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from random import Random
from typing import NamedTuple

from ...direction import Service
from ..dut_model import DutModel, TrialCapacity, batch_wait_s
from ..losses.compound_loss import odds_of_sum_at_most
from .stall_length import StallLength
from .stalled_queue import StalledQueue

# With so much of the capacity to spare, the queue of an interruption is gone before the next.
_AMPLE_SPARE, _AMPLE_DEVIATIONS = 0.02, 10.0


class Interruptions(NamedTuple):
    """How a direction is interrupted at a load.

    `period_s` is from one start to the next where they are `regular`, else the mean of
    the exponential gap from an end to the next start. `left` is the share of the
    capacity that is left in between, and `active` the share of the time in which
    interruptions happen at all.
    """

    lengths: StallLength
    period_s: float
    regular: bool = False
    left: float = 0.0
    active: float = 1.0

    @property
    def per_s(self) -> float:
        """Interruptions a second, in the mean."""
        cycle_s = self.period_s + (0.0 if self.regular else self.lengths.mean_s)
        return self.active / cycle_s

    @property
    def taken_share(self) -> float:
        """The share of the capacity that they take in the mean."""
        return self.per_s * self.lengths.mean_s * (1.0 - self.left)


class InterruptedModel(DutModel, ABC):
    """A DUT that is interrupted: what comes in that time and is not served queues or is lost."""

    @abstractmethod
    def interruptions(self, load_pps: float) -> Interruptions:
        """Those that a direction has at this load."""

    @property
    def buffers(self) -> tuple[tuple[int, float], ...]:
        """The frames that can wait, each with the share of the time that it is so."""
        return ((self.buffer, 1.0),)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of interruptions that lose little, over the capacities of a trial.

        Random ones may come in a row. Regular ones find the queue empty where a full
        buffer drains in the time between them; nearer to the capacity they are taken for
        random ones, which are a little worse.
        """
        interruptions = self.interruptions(load_pps)
        needed_pps = self.needed_pps(load_pps, limit, horizon_s)
        if interruptions.taken_share >= 1.0 or not self.odds_of_capacity(direction, needed_pps):
            return 0.0
        budget = limit * load_pps * horizon_s
        odds = 0.0
        for capacity_pps, weight in self._capacities(direction, load_pps, interruptions.left):
            if capacity_pps * (1.0 - interruptions.taken_share) >= needed_pps:
                odds += weight * self._odds(
                    interruptions, load_pps, capacity_pps, budget, horizon_s
                )
        return odds

    def _capacities(
        self, direction: int, load_pps: float, left: float
    ) -> list[tuple[float, float]]:
        """Capacities of a trial with their probabilities, only one where it does not matter."""
        mean_pps = self.capacity_of(direction)
        ample = max(_AMPLE_SPARE, _AMPLE_DEVIATIONS * self.capacity_deviation)
        if load_pps < mean_pps * (1.0 - ample) and (
            left == 0.0 or abs(load_pps - left * mean_pps) > ample * mean_pps
        ):
            return [(mean_pps, 1.0)]
        likely = self.likely_capacities(direction)
        return [(capacity_pps, 1.0 / len(likely)) for capacity_pps in likely]

    def _odds(
        self,
        interruptions: Interruptions,
        load_pps: float,
        capacity_pps: float,
        budget_frames: float,
        horizon_s: float,
    ) -> float:
        """Of interruptions that lose no more than the budget, at one capacity.

        What is left of the capacity is taken off the load and off the capacity: an
        interruption of the rest is a stall.
        """
        left_pps = interruptions.left * capacity_pps
        if load_pps <= left_pps:
            return 1.0
        lengths, period_s = interruptions.lengths, interruptions.period_s
        losing = mean = square = 0.0
        for frames, share in self.buffers:
            apart = interruptions.regular and (
                (capacity_pps - load_pps) * (period_s - lengths.mean_s) >= frames
            )
            queue = StalledQueue(
                lengths,
                load_pps - left_pps,
                capacity_pps - left_pps,
                float(frames),
                None if apart else period_s,
            )
            losing += share * queue.odds_of_loss
            mean += share * queue.mean_loss_frames
            square += share * queue.mean_square_loss
        events = horizon_s * interruptions.per_s * losing
        if not events:
            return 1.0
        return odds_of_sum_at_most(budget_frames, events, mean / losing, square / losing)


class InterruptedBehaviour(TrialCapacity):
    """Serves at the trial's capacity until the next interruption."""

    def __init__(self, model: InterruptedModel, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._interrupted = model
        interruptions = model.interruptions(self.capacity_pps)
        self._left = interruptions.left
        period_s = interruptions.period_s
        if interruptions.regular:
            self._begin_s = chance.random() * period_s
        else:
            self._begin_s = self.next_begin_s(0.0, period_s)
        self._end_s = self._begin_s + interruptions.lengths.drawn(chance)

    def next_begin_s(self, after_s: float, mean_gap_s: float) -> float:
        """When a random interruption begins after one that ended then."""
        return after_s + self.chance.expovariate(1.0 / mean_gap_s)

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """What is left while it is interrupted, else all until it will be."""
        while now_s >= self._end_s:
            self._draw_next(load_pps)
        capacity_pps = self.capacity_pps
        if now_s < self._begin_s:
            wait_s = batch_wait_s(load_pps, capacity_pps)
            return Service(self._begin_s, capacity_pps, capacity_pps, wait_s)
        left_pps = self._left * capacity_pps
        wait_s = batch_wait_s(load_pps, left_pps) if left_pps else 0.0
        return Service(self._end_s, left_pps, capacity_pps, wait_s)

    def _draw_next(self, load_pps: float) -> None:
        interruptions = self._interrupted.interruptions(load_pps)
        if interruptions.regular:
            self._begin_s = max(self._begin_s + interruptions.period_s, self._end_s)
        else:
            self._begin_s = self.next_begin_s(self._end_s, interruptions.period_s)
        length_s = interruptions.lengths.drawn(self.chance)
        # A length below the clock's resolution would never end.
        self._end_s = max(self._begin_s + length_s, math.nextafter(self._begin_s, math.inf))
