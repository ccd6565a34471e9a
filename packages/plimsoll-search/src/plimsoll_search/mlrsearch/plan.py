"""What a Multiple Loss Ratio search does, with every load in pps per direction."""

from __future__ import annotations

from dataclasses import dataclass

from .goal import Goal
from .span import LoadSpan


@dataclass(frozen=True, slots=True)
class ValidationPlan:
    """Validation begins `back_off` (a share) below what was found; each failure costs as much."""

    duration_s: float
    retries: int
    back_off: float


@dataclass(frozen=True, slots=True)
class MlrPlan:
    """The goals in order, which are never none, and the range to search.

    `retries` is how often in a row an invalid trial is asked for again; without
    `validation` the relevant lower bound itself is the load line.
    """

    goals: tuple[Goal, ...]
    span: LoadSpan
    retries: int
    early_abort: bool
    validation: ValidationPlan | None
