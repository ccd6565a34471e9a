"""A DUT whose CPU is taken by a neighbour, who comes and goes."""

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

_SpanField = Annotated[DurationField, Field(ge=1, le=86_400)]


class NoisyNeighbour(InterruptedModel):
    """A neighbour takes the share `taken` of the CPU in bursts, while it is there.

    It is there and gone by turns, for exponential times of the means `there` and `gone`.
    While it is there a burst begins an exponential gap of the mean `period` after the
    last one's end; it lasts for a log-normal time of the median `length`.
    """

    summary: ClassVar[str] = "a neighbour takes a part of the CPU in bursts, for minutes at a time"

    kind: Literal["noisy-neighbour"] = "noisy-neighbour"
    taken: Annotated[RatioField, Field(gt=0, le=1)] = 0.6
    period: Annotated[DurationField, Field(ge=1e-3, le=86_400)] = 2.0
    length: Annotated[DurationField, Field(ge=1e-6, le=10)] = 6e-3
    length_deviation: Annotated[RatioField, Field(gt=0, le=3)] = 0.3
    there: _SpanField = 120.0
    gone: _SpanField = 360.0

    def interruptions(self, load_pps: float) -> Interruptions:
        """The bursts, at any load the same."""
        lengths = StallLength("lognormal", self.length, self.length_deviation)
        active = self.there / (self.there + self.gone)
        return Interruptions(lengths, self.period, left=1.0 - self.taken, active=active)

    def behaviour(self, direction: int, chance: Random) -> NoisyNeighbourBehaviour:
        """A direction with a neighbour of its own."""
        return NoisyNeighbourBehaviour(self, direction, chance)


class NoisyNeighbourBehaviour(TrialCapacity):
    """Serves at the trial's capacity until the next burst."""

    def __init__(self, model: NoisyNeighbour, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._neighbour = model
        self._lengths = model.interruptions(0.0).lengths
        self._there = chance.random() < model.there / (model.there + model.gone)
        self._spell_end_s = self._drawn_spell_s()
        self._burst_begin_s = self._burst_end_s = 0.0
        self._draw_burst()

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """What is left during a burst, else all until the next one."""
        while now_s >= self._burst_end_s:
            self._draw_burst()
        capacity_pps = self.capacity_pps
        if now_s < self._burst_begin_s:
            wait_s = batch_wait_s(load_pps, capacity_pps)
            return Service(self._burst_begin_s, capacity_pps, capacity_pps, wait_s)
        left_pps = capacity_pps * (1.0 - self._neighbour.taken)
        wait_s = batch_wait_s(load_pps, left_pps) if left_pps else 0.0
        return Service(self._burst_end_s, left_pps, capacity_pps, wait_s)

    def _draw_burst(self) -> None:
        """The gap runs only while the neighbour is there; a burst that has begun ends."""
        at_s = self._burst_end_s
        gap_s = self.chance.expovariate(1.0 / self._neighbour.period)
        while True:
            left_s = max(0.0, self._spell_end_s - at_s)
            if self._there and gap_s <= left_s:
                break
            if self._there:
                gap_s -= left_s
            at_s = max(at_s, self._spell_end_s)
            self._there = not self._there
            self._spell_end_s += self._drawn_spell_s()
        self._burst_begin_s = at_s + gap_s
        length_s = self._lengths.drawn(self.chance)
        # A length below the clock's resolution would never end.
        tick_s = math.nextafter(self._burst_begin_s, math.inf)
        self._burst_end_s = max(self._burst_begin_s + length_s, tick_s)

    def _drawn_spell_s(self) -> float:
        mean_s = self._neighbour.there if self._there else self._neighbour.gone
        return self.chance.expovariate(1.0 / mean_s)
