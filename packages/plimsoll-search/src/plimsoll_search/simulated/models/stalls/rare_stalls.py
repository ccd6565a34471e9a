"""A DUT that is away now and then: what limits a load then is its buffer, not its capacity."""

from __future__ import annotations

from random import Random
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ....text.mistakes import mistake
from ....text.units import DurationField, RatioField
from .interrupted import (
    InterruptedBehaviour,
    InterruptedModel,
    Interruptions,
)
from .stall_length import LengthDistribution, StallLength

# So that lengths have a variance, by far.
_MOST_SHAPE = 0.45


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
        if self.distribution == "pareto" and self.length_deviation > _MOST_SHAPE:
            remedy = f"give at most {_MOST_SHAPE:g}, or another distribution"
            raise mistake(f"is {self.length_deviation:g}", remedy, "length_deviation")
        return self

    def interruptions(self, load_pps: float) -> Interruptions:
        """The stalls, at any load the same."""
        lengths = StallLength(self.distribution, self.length, self.length_deviation)
        return Interruptions(lengths, self.period, self.timing == "regular")

    def behaviour(self, direction: int, chance: Random) -> InterruptedBehaviour:
        """A direction with stalls of its own."""
        return InterruptedBehaviour(self, direction, chance)
