"""A DUT that does its housekeeping by the clock, and forwards nothing while it does."""

from __future__ import annotations

from random import Random
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ....text.mistakes import mistake
from ....text.units import DurationField
from .interrupted import (
    InterruptedBehaviour,
    InterruptedModel,
    Interruptions,
)
from .stall_length import StallLength

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
        if self.shortest > self.longest:
            remedy = f"give at most the longest, {self.longest:g}s"
            raise mistake(f"is {self.shortest:g} s", remedy, "shortest")
        return self

    def interruptions(self, load_pps: float) -> Interruptions:
        """The sweeps, at any load the same."""
        return Interruptions(StallLength.between(self.shortest, self.longest), self.period, True)

    def behaviour(self, direction: int, chance: Random) -> InterruptedBehaviour:
        """A direction with a phase of its own."""
        return InterruptedBehaviour(self, direction, chance)
