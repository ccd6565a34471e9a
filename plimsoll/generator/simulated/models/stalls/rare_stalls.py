"""A DUT that is away now and then: what limits a load then is its buffer, not its capacity."""

from __future__ import annotations

from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from plimsoll.generator.simulated.models.stalls.interrupted import (
    InterruptedBehaviour,
    InterruptedModel,
    Interruptions,
)
from plimsoll.generator.simulated.models.stalls.stall_length import StallLength
from plimsoll.text.units import DurationField, RatioField


class RareStalls(InterruptedModel):
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
    distribution: Literal["fixed", "exponential", "lognormal"] = "lognormal"
    length: Annotated[DurationField, Field(ge=1e-6, le=10)] = 2e-3
    length_deviation: Annotated[RatioField, Field(gt=0, le=3)] = 0.25

    def interruptions(self, load_pps: float) -> Interruptions:
        """The stalls, at any load the same."""
        lengths = StallLength(self.distribution, self.length, self.length_deviation)
        return Interruptions(lengths, self.period, self.timing == "regular")

    def behaviour(self, direction: int, chance: Random) -> InterruptedBehaviour:
        """A direction with stalls of its own."""
        return InterruptedBehaviour(self, direction, chance)
