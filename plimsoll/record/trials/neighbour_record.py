"""A neighbour beside a trial: what it was, where it ran, and what it did."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel


class NeighbourRecord(RecordModel):
    """One entry of the experiment's `noise`, in its order.

    `intensity` is what all its workers did a second, in `unit`, by its own count over `ran_s`:
    from a little before frames were sent to a little after. It is null where the neighbour did
    not say, and `unknown` says why. A trial with one that `ended_early` is invalid.
    """

    name: str
    level: str
    cpus: tuple[int, ...]
    cgroup: str | None
    workers: int
    niceness: int
    ran_s: float
    unit: Literal["bogo-ops/s", "B/s"]
    intensity: float | None
    cpu_s: float | None
    figures: dict[str, float] = Field(
        description="Further figures of its own, by the names that its program gives them."
    )
    program: str | None
    unknown: str | None
    ended_early: str | None
