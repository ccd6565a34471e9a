"""A neighbour of a trial: what it was, where it ran, and what it did."""

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

    name: str = Field(description="What it was: its kind and what it disturbs.")
    level: str = Field(description="How much it was meant to do; empty for as much as it can.")
    cpus: tuple[int, ...] = Field(description="The CPUs that it was kept to; none for any.")
    cgroup: str | None = Field(description="The cgroup it was put into, below /sys/fs/cgroup.")
    workers: int = Field(description="How many processes or threads disturbed at once.")
    niceness: int = Field(description="The niceness of its workers.")
    ran_s: float = Field(description="How long it ran next to the trial, in s.")
    unit: Literal["bogo-ops/s", "B/s"] = Field(description="The unit of its intensity.")
    intensity: float | None = Field(
        description="What it did a second, in its unit; null where it did not say."
    )
    cpu_s: float | None = Field(
        description="The CPU time that it took, in s; null where it did not say."
    )
    figures: dict[str, float] = Field(
        description="Further figures of its own, by the names that its program gives them."
    )
    program: str | None = Field(description="The program, with its version where it tells it.")
    unknown: str | None = Field(description="Why its intensity is not known; null where it is.")
    ended_early: str | None = Field(
        description="How it ended before it was stopped; null where it lasted."
    )
