"""DUTs with two speeds, between which they change by chance or by the clock."""

from __future__ import annotations

from random import Random
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ....text.units import DurationField, RatioField
from .interrupted import InterruptedBehaviour, InterruptedModel, Interruptions
from .stall_length import StallLength, check_lengths

_LengthField = Annotated[DurationField, Field(ge=1e-3, le=3600)]


class SlowPhases(InterruptedModel):
    """Carries the share `slow` of its capacity for `share` of the time.

    A slow phase lasts any time from `shortest` to `longest`, all as likely; the fast ones
    between them are exponential. A clock that is lowered, a page cache that is written
    back, or a CPU that is shared for seconds does so.
    """

    summary: ClassVar[str] = "two speeds: slower for seconds, for a share of the time"

    kind: Literal["slow-phases"] = "slow-phases"
    slow: Annotated[RatioField, Field(gt=0, lt=1)] = 0.7
    share: Annotated[RatioField, Field(gt=0, lt=1)] = 0.05
    shortest: _LengthField = 2.0
    longest: _LengthField = 20.0

    @model_validator(mode="after")
    def _lengths_rise(self) -> Self:
        check_lengths(self.shortest, self.longest)
        return self

    def interruptions(self, load_pps: float) -> Interruptions:
        """The slow phases, at any load the same."""
        lengths = StallLength.between(self.shortest, self.longest)
        mean_gap_s = lengths.mean_s * (1.0 - self.share) / self.share
        return Interruptions(lengths, mean_gap_s, left=self.slow)

    def behaviour(self, direction: int, chance: Random) -> InterruptedBehaviour:
        """A direction that is fast at first."""
        return InterruptedBehaviour(self, direction, chance)


_RekeyingField = Annotated[DurationField, Field(ge=1e-6, le=3600)]


class Rekeying(InterruptedModel):
    """Every `period` only the share `left` of its capacity is left, from `shortest` to `longest`.

    All lengths are as likely. So a gateway does whose tunnels negotiate new keys on the cores
    that forward. Each direction begins at a time of its own.
    """

    summary: ClassVar[str] = "slower by the clock, for as long as new keys take"

    kind: Literal["rekeying"] = "rekeying"
    period: Annotated[DurationField, Field(ge=1e-3, le=86_400)] = 600.0
    shortest: _RekeyingField = 20e-3
    longest: _RekeyingField = 60e-3
    left: Annotated[RatioField, Field(gt=0, lt=1)] = 0.8

    @model_validator(mode="after")
    def _lengths_rise(self) -> Self:
        check_lengths(self.shortest, self.longest)
        return self

    def interruptions(self, load_pps: float) -> Interruptions:
        """The negotiations, at any load the same."""
        lengths = StallLength.between(self.shortest, self.longest)
        return Interruptions(lengths, self.period, True, left=self.left)

    def behaviour(self, direction: int, chance: Random) -> InterruptedBehaviour:
        """A direction with a phase of its own."""
        return InterruptedBehaviour(self, direction, chance)
