"""A DUT that has to collect its garbage: the more it carries, the oftener and the longer."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...direction import Service
from ..dut_model import TrialCapacity, batch_wait_s
from .interrupted import InterruptedModel, Interruptions
from .stall_length import StallLength


class GarbageCollector(InterruptedModel):
    """Stalls to collect what the frames carried have left behind.

    At a load equal to `capacity` the time from a pause to the next is exponential of the
    mean `period`, and the pause log-normal of the median `length` (`length_deviation`). At
    a share u of it pauses are 1 ÷ u as rare, for garbage comes with the frames, and last
    `length` · u^`growth`, for what has to be traced is what is under way.
    """

    summary: ClassVar[str] = "stalls that become longer and oftener as the load grows"

    kind: Literal["garbage-collector"] = "garbage-collector"
    period: Annotated[DurationField, Field(ge=1e-3, le=86_400)] = 10.0
    length: Annotated[DurationField, Field(ge=1e-6, le=10)] = 4e-3
    length_deviation: Annotated[RatioField, Field(gt=0, le=3)] = 0.2
    growth: Annotated[float, Field(ge=0, le=4)] = 1.0

    def interruptions(self, load_pps: float) -> Interruptions:
        """The pauses; those of an idle DUT are as good as none."""
        use = max(load_pps / self.capacity, 1e-6)
        lengths = StallLength("lognormal", self.length * use**self.growth, self.length_deviation)
        return Interruptions(lengths, self.period / use)

    def behaviour(self, direction: int, chance: Random) -> GarbageCollectorBehaviour:
        """A direction without garbage."""
        return GarbageCollectorBehaviour(self, direction, chance)


class GarbageCollectorBehaviour(TrialCapacity):
    """Serves at the trial's capacity until enough garbage has come for a pause."""

    def __init__(self, model: GarbageCollector, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._collector = model
        self._left_frames = self._garbage_frames()
        self._pause_end_s = -math.inf
        self._last_s = 0.0
        self._load_pps = 0.0

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """Nothing during a pause, else until the next one, should the load stay."""
        if now_s < self._pause_end_s:
            return Service(self._pause_end_s, 0.0, self.capacity_pps, 0.0)
        self._left_frames -= self._load_pps * (now_s - max(self._last_s, self._pause_end_s))
        self._last_s, self._load_pps = now_s, load_pps
        until_s = now_s + self._left_frames / load_pps if load_pps > 0.0 else math.inf
        if until_s <= now_s:
            return self._pause(now_s, load_pps)
        wait_s = batch_wait_s(load_pps, self.capacity_pps)
        return Service(until_s, self.capacity_pps, self.capacity_pps, wait_s)

    def _pause(self, now_s: float, load_pps: float) -> Service:
        length_s = self._collector.interruptions(load_pps).lengths.drawn(self.chance)
        self._pause_end_s = max(now_s + length_s, math.nextafter(now_s, math.inf))
        self._left_frames = self._garbage_frames()
        return Service(self._pause_end_s, 0.0, self.capacity_pps, 0.0)

    def _garbage_frames(self) -> float:
        """After how many frames the next pause comes."""
        mean_frames = self._collector.period * self._collector.capacity
        return self.chance.expovariate(1.0 / mean_frames)
