"""Why a tester could not test, and what to do about it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class TesterCeiling(BaseModel):
    """The most that the tester offered per direction on these ports, before the search."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    trial: int = Field(
        description="The number of the trial that offered the most, in the run's journal."
    )
    intended_pps: float = Field(
        description="The search's maximum per direction, in frames per second."
    )
    offered_pps: float = Field(
        description="The most that was offered per direction, in frames per second."
    )


class TesterDiagnosis(BaseModel):
    """What the invalid trials and the scheduler's figures say, the weightiest first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentences: tuple[str, ...] = Field(
        description="What stood in the tester's way, the weightiest first."
    )
    remedy: str = Field(description="What to do about it.")
