"""How one neighbour fared during one trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.neighbours.neighbour import IntensityUnit


@dataclass(frozen=True, slots=True)
class NeighbourRun:
    """What it was, where it ran, and what it did over the `ran_s` from being ready to its end.

    `intensity` is in `unit`, by its own count and over all its life, which begins a little before
    the trial and ends a little after it; None where it did not say, and `unknown` why. `cpu_s`
    is the CPU time that it took. `ended_early` says how it ended where it was not requested to.
    """

    name: str
    level: str
    cpus: tuple[int, ...]
    cgroup: str | None
    workers: int
    niceness: int
    ran_s: float
    unit: IntensityUnit
    intensity: float | None
    cpu_s: float | None
    figures: Mapping[str, float]
    program: str | None
    unknown: str | None
    ended_early: str | None
