"""A DUT with stalls, and with a buffer that others take from."""

from __future__ import annotations

from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...service import Service
from .interrupted import (
    InterruptedBehaviour,
    InterruptedModel,
    Interruptions,
)
from .stall_length import StallLength

_SpanField = Annotated[DurationField, Field(ge=1, le=86_400)]


class ChangingBuffer(InterruptedModel):
    """Its buffer is the share `small` of itself for a while, now and then.

    So a pool does that queues share. The phases are exponential: of the mean `narrow` while
    the buffer is small, of `wide` while all of it is there. What waits when it becomes
    small is not lost; nothing more finds room before enough has gone. In addition it is
    away at random, as `rare-stalls` is: each `period` in the mean, for log-normal times
    of the median `length`.
    """

    summary: ClassVar[str] = "stalls, and a buffer that is smaller for minutes now and then"

    kind: Literal["changing-buffer"] = "changing-buffer"
    small: Annotated[RatioField, Field(gt=0, lt=1)] = 0.5
    narrow: _SpanField = 300.0
    wide: _SpanField = 900.0
    period: Annotated[DurationField, Field(ge=1e-3, le=86_400)] = 10.0
    length: Annotated[DurationField, Field(ge=1e-6, le=10)] = 1.5e-3
    length_deviation: Annotated[RatioField, Field(gt=0, le=3)] = 0.25

    @property
    def small_frames(self) -> int:
        """What can wait while the buffer is small, at least one frame."""
        return max(1, round(self.small * self.buffer))

    @property
    def buffers(self) -> tuple[tuple[int, float], ...]:
        """Both, by their shares of the time."""
        narrow = self.narrow / (self.narrow + self.wide)
        return ((self.small_frames, narrow), (self.buffer, 1.0 - narrow))

    def interruptions(self, load_pps: float) -> Interruptions:
        """The stalls, at any load the same."""
        lengths = StallLength("lognormal", self.length, self.length_deviation)
        return Interruptions(lengths, self.period)

    def behaviour(self, direction: int, chance: Random) -> ChangingBufferBehaviour:
        """A direction with stalls and a buffer of its own."""
        return ChangingBufferBehaviour(self, direction, chance)


class ChangingBufferBehaviour(InterruptedBehaviour):
    """Stalls, and ends a service where the buffer changes."""

    def __init__(self, model: ChangingBuffer, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._changing = model
        self._narrow = chance.random() < model.narrow / (model.narrow + model.wide)
        self._changes_s = 0.0
        self._begin_phase()

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """As between stalls, until the buffer changes."""
        while now_s >= self._changes_s:
            self._narrow = not self._narrow
            self._begin_phase()
        service = super().service(now_s, load_pps, queue_frames)
        return service._replace(until_s=min(service.until_s, self._changes_s))

    def _begin_phase(self) -> None:
        model = self._changing
        self.buffer_frames = float(model.small_frames if self._narrow else model.buffer)
        mean_s = model.narrow if self._narrow else model.wide
        self._changes_s += self.chance.expovariate(1.0 / mean_s)
