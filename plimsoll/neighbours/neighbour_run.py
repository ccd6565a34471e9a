"""How one neighbour fared during one trial: what it was, where it ran, and what it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.search.evidence.evidence_model import recorded

IntensityUnit = Literal["bogo-ops/s", "B/s"]


@recorded
@dataclass(frozen=True, slots=True)
class NeighbourRun:
    """One entry of the experiment's `noise`, in its order.

    `intensity` is what all its workers did a second, in `unit`, by its own count over `ran_s`:
    from a little before frames were sent to a little after. It is null where the neighbour did
    not say, and `unknown` says why. A trial with one that `ended_early` is invalid.
    """

    name: Annotated[str, Field(description="What it was: its kind and what it disturbs.")]
    level: Annotated[
        str, Field(description="How much it was meant to do; empty for as much as it can.")
    ]
    cpus: Annotated[
        tuple[int, ...], Field(description="The CPUs that it was kept to; none for any.")
    ]
    cgroup: Annotated[
        str | None, Field(description="The cgroup it was put into, below /sys/fs/cgroup.")
    ]
    workers: Annotated[int, Field(description="How many processes or threads disturbed at once.")]
    niceness: Annotated[int, Field(description="The niceness of its workers.")]
    ran_s: Annotated[float, Field(description="How long it ran next to the trial, in s.")]
    unit: Annotated[IntensityUnit, Field(description="The unit of its intensity.")]
    intensity: Annotated[
        float | None,
        Field(description="What it did a second, in its unit; null where it did not say."),
    ]
    cpu_s: Annotated[
        float | None,
        Field(description="The CPU time that it took, in s; null where it did not say."),
    ]
    figures: Annotated[
        dict[str, float],
        Field(description="Further figures of its own, by the names that its program gives them."),
    ]
    program: Annotated[
        str | None, Field(description="The program, with its version where it tells it.")
    ]
    unknown: Annotated[
        str | None, Field(description="Why its intensity is not known; null where it is.")
    ]
    ended_early: Annotated[
        str | None, Field(description="How it ended before it was stopped; null where it lasted.")
    ]
