"""The tester's own part in a trial: its ports and its polling loops, as the record keeps them."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from plimsoll.generator.interface import CycleBudget, Stall, WorkerCounts
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.latency_record import LatencyRecord


# Beside PortCounts, for a trial whose link was down has ended by that, and says so.
class PortRecord(RecordModel):
    """One of the tester's ports: frames that are not part of the trial, and what it missed."""

    port: int = Field(description="The tester's port, from 0.")
    foreign: int = Field(description="Frames received without the tester's signature.")
    foreign_kinds: dict[str, int] = Field(
        description="The same by kind (ARP, LLDP, …); adds up to `foreign`."
    )
    stale: int = Field(
        description="Whole frames of the tester received that belong to another trial or run."
    )
    rx_missed: int = Field(
        description="The driver's count of frames that its receive queue had no room for."
    )
    rx_errors: int = Field(description="The driver's count of frames received with errors.")
    rx_no_mbuf: int = Field(
        description="The driver's count of frames for which no buffer was free."
    )
    buffers_in_use: int = Field(
        description="Buffers of the port's pools in use when the trial ended."
    )
    host: dict[str, int] = Field(
        default_factory=dict,
        description="Frames to and from the tester's own host there (arp, nd, echo, heard, "
        "answered, moved), which are not foreign; empty where it is none.",
    )
    truncated: int = Field(
        default=0,
        description="Frames received without the tester's signature that were cut short: their IP "
        "packet says that it is longer. Among them may be frames of the trial.",
    )


# Beside ResolvedAddress, which also stands for one that did not answer.
class ResolvedRecord(RecordModel):
    """A neighbour of the tester's host on a port, to which frames of the trial were sent."""

    port: int = Field(description="The tester's port on whose wire it is.")
    address: str = Field(description="Its IP address: the destination's, or the gateway's.")
    mac: str = Field(description="The MAC address that it gave just before the trial.")
    tries: int = Field(ge=0, description="How many requests were sent for it.")


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


# Beside WorkerCounts of the hot path, whose histograms are quantiles here.
class WorkerRecord(RecordModel):
    """One polling loop of the tester and its stalls."""

    cpu: int = Field(description="The CPU that the loop polls on, as the kernel numbers it.")
    polls: int = Field(description="Turns of the polling loop.")
    idle_polls: int = Field(description="Turns in which it neither sent nor received.")
    stalls: int = Field(description="Gaps of the loop that were longer than the trial's limit.")
    stalled_ns: int = Field(description="Length of all its stalls together, in ns.")
    worst_stall_ns: int = Field(description="The loop's longest stall, in ns; 0 without a stall.")
    gaps: LatencyRecord = Field(
        description="Lengths of its gaps of more than 1 µs between two clock readings."
    )
    cycles: CycleBudget = Field(
        description="Time stamp counter ticks by step of the loop, of sampled bursts."
    )
    longest: tuple[Stall, ...] = Field(
        description="The longest stalls with their times, the longest first."
    )

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
            cycles=counts.cycles,
            longest=counts.longest,
        )
