"""Why a tester could not test, and what to do about it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class TesterCeiling(BaseModel):
    """The most that the tester offered per direction on these ports, before the search.

    `intended_pps` is the search's maximum, `trial` the trial that offered the most.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    trial: int
    intended_pps: float
    offered_pps: float


class TesterDiagnosis(BaseModel):
    """What the invalid trials and the scheduler's figures say, the weightiest first.

    `remedy` is what to do.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentences: tuple[str, ...]
    remedy: str
