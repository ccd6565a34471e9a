"""The tester's own part in a trial: its ports and its polling loops, as the record keeps them."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from plimsoll.generator.interface import WorkerCounts
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.latency_record import LatencyRecord


class PortRecord(RecordModel):
    """One of the tester's ports: frames that are not part of the trial, and what it missed.

    `foreign_kinds` says of what kind the foreign ones were, and adds up to `foreign`.
    `buffers_in_use` is as it was when the trial ended. `host` has the frames to and from the
    tester's own host there, by kind; empty where it is none.
    """

    port: int
    foreign: int
    foreign_kinds: dict[str, int]
    stale: int
    rx_missed: int
    rx_errors: int
    rx_no_mbuf: int
    buffers_in_use: int
    host: dict[str, int] = Field(default_factory=dict)
    truncated: int = 0


class ResolvedRecord(RecordModel):
    """A neighbour of the tester's host on a port, to which frames of the trial were sent."""

    port: int
    address: str = Field(description="Its IP address: the destination's, or the gateway's.")
    mac: str = Field(description="The MAC address that it gave just before the trial.")
    tries: int = Field(ge=0, description="How many requests were sent for it.")


class StallRecord(RecordModel):
    """A gap in a polling loop of the tester, of `length_ns`.

    It ended `at_s` after the trial's start, when the time stamp counter stood at `tsc`:
    that is the kernel's trace clock `x86-tsc`, by which its cause can be looked up.
    """

    at_s: float
    tsc: int
    length_ns: int


class CyclesRecord(RecordModel):
    """TSC ticks that one step of a polling loop took for so many frames, of sampled bursts."""

    ticks: int
    frames: int


class CycleBudgetRecord(RecordModel):
    """Where a polling loop's time goes: making frames, sending, asking for them, measuring."""

    build: CyclesRecord
    send: CyclesRecord
    poll: CyclesRecord
    measure: CyclesRecord


class OwnTimeRecord(RecordModel):
    """CPU time that Plimsoll itself took from the polled CPUs while frames were sent."""

    cpu_ns: dict[str, int | None] = Field(
        description="CPU time in ns by process, of those that may run on a polled CPU; "
        "null of one that ended by then."
    )
    polled_cpus: int = Field(ge=1, description="How many CPUs are polled, the DUT's among them.")
    share: float = Field(
        ge=0, description="Of the time that the polled CPUs have together, from 0 to 1."
    )


class WorkerRecord(RecordModel):
    """One polling loop of the tester and its stalls, the longest first.

    `gaps` are all its gaps of more than 1 µs between two looks at the clock, work
    included; stalls are those beyond the trial's limit.
    """

    cpu: int
    polls: int
    idle_polls: int
    stalls: int
    stalled_ns: int
    worst_stall_ns: int
    gaps: LatencyRecord
    cycles: CycleBudgetRecord
    longest: tuple[StallRecord, ...]

    @classmethod
    def of(cls, counts: WorkerCounts) -> Self:
        """The record of one loop."""
        return cls(
            cpu=counts.cpu,
            polls=counts.polls,
            idle_polls=counts.idle_polls,
            stalls=counts.stalls,
            stalled_ns=counts.stalled_ns,
            worst_stall_ns=counts.worst_stall_ns,
            gaps=LatencyRecord.of(counts.gaps),
            cycles=CycleBudgetRecord.model_validate(counts.cycles),
            longest=tuple(StallRecord.model_validate(stall) for stall in counts.longest),
        )
