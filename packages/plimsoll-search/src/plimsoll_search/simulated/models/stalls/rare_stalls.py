"""DUTs that are away now and then: what limits a load then is their buffer, not their capacity."""

from __future__ import annotations

from random import Random
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ....text.errors import mistake
from ....text.units import DurationField, RatioField
from ...direction import Service
from .interrupted import InterruptedBehaviour, InterruptedModel, Interruptions
from .stall_length import LengthDistribution, StallLength, check_lengths

# So that lengths have a variance, by far.
_MAX_SHAPE = 0.45


class RareStalls(InterruptedModel):
    """Serves at its capacity, but for stalls: each direction has its own.

    They come every `period`, or with exponential gaps of that mean (`timing`). `length` is
    that of all stalls, the mean of exponential ones or the median of log-normal ones
    (`distribution`, `length_deviation`). Uniform ones lie between `length` less and more by
    the share `length_deviation`; generalised Pareto ones have it for their shape and `length`
    for their mean. While the DUT is away frames queue; those that the buffer has no room for
    are lost, and the others are late by up to the stall.
    """

    summary: ClassVar[str] = "is away for milliseconds now and then; the buffer bridges some of it"

    kind: Literal["rare-stalls"] = "rare-stalls"
    timing: Literal["regular", "random"] = "random"
    period: Annotated[DurationField, Field(ge=1e-3, le=86_400)] = 5.0
    distribution: LengthDistribution = "lognormal"
    length: Annotated[DurationField, Field(ge=1e-6, le=10)] = 2e-3
    length_deviation: Annotated[RatioField, Field(gt=0, le=3)] = 0.25

    @model_validator(mode="after")
    def _shape_has_a_variance(self) -> Self:
        if self.distribution == "pareto" and self.length_deviation > _MAX_SHAPE:
            remedy = f"give at most {_MAX_SHAPE:g}, or another distribution"
            raise mistake(f"is {self.length_deviation:g}", remedy, "length_deviation")
        return self

    def interruptions(self, load_pps: float) -> Interruptions:
        """The stalls, at any load the same."""
        lengths = StallLength(self.distribution, self.length, self.length_deviation)
        return Interruptions(lengths, self.period, self.timing == "regular")

    def behaviour(self, direction: int, chance: Random) -> InterruptedBehaviour:
        """A direction with stalls of its own."""
        return InterruptedBehaviour(self, direction, chance)


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


_LengthField = Annotated[DurationField, Field(ge=1e-6, le=10)]


class Housekeeping(InterruptedModel):
    """Is away every `period`, for any time from `shortest` to `longest`, all as likely.

    Flow tables are swept and counters collected so: there is a longest sweep, and none
    takes longer. Each direction begins at a time of its own.
    """

    summary: ClassVar[str] = "stalls by the clock, never longer than its longest"

    kind: Literal["housekeeping"] = "housekeeping"
    period: Annotated[DurationField, Field(ge=1e-3, le=86_400)] = 37.0
    shortest: _LengthField = 3e-3
    longest: _LengthField = 9e-3

    @model_validator(mode="after")
    def _lengths_rise(self) -> Self:
        check_lengths(self.shortest, self.longest)
        return self

    def interruptions(self, load_pps: float) -> Interruptions:
        """The sweeps, at any load the same."""
        return Interruptions(StallLength.between(self.shortest, self.longest), self.period, True)

    def behaviour(self, direction: int, chance: Random) -> InterruptedBehaviour:
        """A direction with a phase of its own."""
        return InterruptedBehaviour(self, direction, chance)
