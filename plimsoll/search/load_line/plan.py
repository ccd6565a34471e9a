"""LoadLineSettings with every load in pps per direction."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GoalPlan:
    """A goal's name, and the share of frames it lets be lost; None where that is not known."""

    name: str
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class LoadLinePlan:
    """The settings, field by field as in LoadLineSettings."""

    minimum_pps: float
    maximum_pps: float
    width: float
    duration_s: float
    watch_s: float
    validation_s: float
    bursts: bool
    confidence: float
    retries: int
    validation_retries: int
    attempts: int
    goals: tuple[GoalPlan, ...]
