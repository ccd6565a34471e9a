"""One stream of a trial, as the trial record keeps it."""

from __future__ import annotations

import math
from collections import Counter
from typing import Self

from pydantic import Field

from plimsoll.generator.counters import fields_of
from plimsoll.generator.interface import StampCounts, StreamCounts
from plimsoll.generator.latency_ends import LatencyEnds
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.flow_summary import FlowSummary
from plimsoll.record.trials.latency_record import (
    LatencyEstimate,
    LatencyRecord,
    LongestLatency,
    NamedLatency,
)
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.traffic.plan import PacingKind, Role, Schedule, StreamPlan


class FrameSizeRecord(RecordModel):
    """One frame size, in bytes with FCS, and its share of the stream against the others."""

    size: int = Field(description="Frame size with FCS, in bytes.")
    weight: int = Field(description="Share of the stream's frames, relative to the other sizes.")


class StreamScheduleRecord(RecordModel):
    """When a stream sent: from `start_s` on, for `duration_s`, and again after each `pause_s`."""

    start_s: float = Field(description="When it began, in s from the trial's start.")
    duration_s: float | None = Field(
        description="For how long it sent, in s; null for the trial's end."
    )
    pause_s: float | None = Field(
        description="Time after which it sent again, in s; null if it did not."
    )

    @classmethod
    def of(cls, schedule: Schedule) -> Self:
        """The same as planned."""
        return cls(
            start_s=schedule.start_s, duration_s=schedule.duration_s, pause_s=schedule.pause_s
        )


class StreamRecord(RecordModel):
    """One stream over the whole trial.

    Refused frames count as lost by the DUT or by the tester, depending on the lab (`drained_by`).
    """

    stream: int = Field(description="The stream's number in the trial, from 0.")
    name: str = Field(
        description="The stream's name in the profile, with its direction where it has two."
    )
    role: Role = Field(
        description="load, or latency for a probe stream that is only there to be timed."
    )
    tx_port: int = Field(description="The tester's port that sends the stream, from 0.")
    rx_port: int = Field(
        description="The tester's port on which the stream must come back, from 0."
    )
    frame_sizes: tuple[FrameSizeRecord, ...] = Field(
        description="Its frame sizes with their shares."
    )
    mean_frame_size: float = Field(description="Mean frame size with FCS, in bytes.")
    pacing: PacingKind = Field(
        description="How its frames follow each other: constant, bursts, Poisson, as captured, "
        "back-to-back, one in flight."
    )
    planned_pps: float | None = Field(
        description="The planned rate, in frames per second; null if the pacing has no rate."
    )
    sent: int = Field(
        description="Frames that the sending port accepted. Frames it refused are not among them, "
        "so that `sent` may equal `received` while frames were `lost`."
    )
    refused: int = Field(
        description="Frames offered in time that the port's queue had no room for; not tried "
        "again, and not in `sent`. Whose fault that is depends on who empties the "
        "queue."
    )
    skipped: int = Field(
        description="Frames never offered, because the tester was too late for them."
    )
    no_buffer: int = Field(
        description="Frames never offered, because the tester had no buffer free."
    )
    timed_out: int = Field(
        description="One-in-flight frames given up on; one that still comes back is in `received`."
    )
    received: int = Field(
        description="Frames of the stream that came back on its port, duplicates included, corrupt "
        "ones not; those sent in time and received during the drain count."
    )
    lost: int = Field(
        description="Frames counted as lost: those sent that never came back, and, where the lab "
        "holds the DUT responsible for its queue (memif, vhost), those that `refused` "
        "counts."
    )
    loss_ratio: float | None = Field(
        description="lost ÷ offered, a share (1 is all); offered is lost + received - duplicate. "
        "Null when nothing was offered."
    )
    out_of_order: int = Field(
        description="Frames received after one of the stream that was sent later."
    )
    duplicate: int = Field(description="Frames received once more; they are in `received`, too.")
    corrupt: int = Field(
        description="Frames of the stream received with a signature that its checksum does not "
        "fit; they are not in `received`, so they are lost, too."
    )
    misdirected: int = Field(
        description="Frames of the stream received on another port than its own."
    )
    received_bytes: int | None = Field(
        default=None,
        description="The length of the received frames with FCS, together, in bytes: not that of "
        "as many frames sent where the DUT adds a tag or padding. Null where nothing came back or "
        "the generator does not count it, and in records of earlier versions.",
    )
    checked: int | None = Field(
        default=None,
        description="Received frames whose UDP, TCP or ICMP checksum (and IPv4 header checksum) "
        "was verified and right: from the IP header to the packet's end nothing was damaged. Null "
        "in records of earlier versions.",
    )
    header_checked: int | None = Field(
        default=None,
        description="Received frames that had no more than an IPv4 header checksum, which was "
        "verified and right. Null in records of earlier versions.",
    )
    unchecked: int | None = Field(
        default=None,
        description="Received frames that had less to verify than every frame of the stream had "
        "when it was sent. Null in records of earlier versions.",
    )
    latency: LatencyRecord = Field(
        description="One-way latency of received frames, from the stamp at sending to the stamp at "
        "receiving; without samples that a stall of the tester may have made longer."
    )
    samples_across_stalls: int = Field(
        description="Received frames whose latency a stall of the tester may have made longer; "
        "they are left out of `latency`."
    )
    latency_low: LatencyRecord | None = Field(
        default=None,
        description="The latency of all received frames, less the most that stalls of the tester "
        "can have delayed each: the DUT's is at least this. Null if no stall can have delayed a "
        "sample (then see `latency`), and in records of earlier versions.",
    )
    latency_high: LatencyRecord | None = Field(
        default=None,
        description="The latency of all received frames as measured: the DUT's is at most this. "
        "Null where `latency_low` is.",
    )
    latency_estimate: LatencyEstimate | None = Field(
        default=None,
        description="One figure for each quantile between `latency_low` and `latency_high`, where "
        "one must stand: the self-consistent estimate of samples known to lie between two ends "
        "(Turnbull 1976). A quantile is null where the stalls leave it open, so that both ends "
        "stand alone. All of it is null where `latency_low` is, where the generator does not say "
        "which ends belong together, and in records of earlier versions.",
    )
    low_end_unknown: int | None = Field(
        default=None,
        description="Samples whose frame was sent so early that the tester's stalls of that time "
        "were forgotten: by how much these delayed them is not known. Null in records of earlier "
        "versions.",
    )
    longest: LongestLatency | None = Field(
        default=None,
        description="The longest latency over all samples, those across a stall of the tester "
        "included, and whose it is; null if there are no samples, and in records of earlier "
        "versions.",
    )
    latency_us: tuple[tuple[int, int], ...] = Field(
        description="A latency stream's samples by whole microseconds, as [microseconds, frames]; "
        "the last, 1000, holds those of 1 ms and more."
    )
    lateness: LatencyRecord = Field(
        description="How long after they were due the frames of a latency stream were sent; no "
        "samples of other streams."
    )
    schedule: StreamScheduleRecord | None = Field(
        default=None,
        description="The parts of the trial in which it sent; null if it sent throughout, and in "
        "records of earlier versions.",
    )
    timed: bool = Field(
        default=True,
        description="Whether its frames said when they were sent. Those with a short signature do "
        "not, for want of room: their losses, order and duplicates are known, and no latency.",
    )
    filtered: bool = Field(
        default=False,
        description="Whether the DUT was to drop its frames; then they are in no loss criterion.",
    )
    taken_from: str | None = Field(
        default=None,
        description="The load stream whose rate a probe's was taken out of, and of whose load its "
        "frames are therefore a part. Null for all other streams, and in records of earlier "
        "versions.",
    )
    flows: FlowSummary | None = Field(
        default=None,
        description="Its flows' results; null if it was not counted by flow, and in records of "
        "earlier versions.",
    )

    stamps: StampCounts | None = Field(
        default=None,
        description="What the ports stamped of its probes, between whose stamps its latency then "
        "is; null where the polling loops stamp, and in records of earlier versions.",
    )
    captured_pps: float | None = Field(
        default=None,
        description="The mean rate of a replayed capture at its own speed, in frames per second; "
        "planned_pps ÷ this is how fast its gaps were replayed. Null for streams without captured "
        "pacing, and in records of earlier versions.",
    )

    @classmethod
    def of(
        cls,
        plan: StreamPlan,
        counts: StreamCounts,
        lost: int,
        longest: NamedLatency | None = None,
    ) -> Self:
        """The record of one stream: its plan, its counts, its longest latency in its parts."""
        ends, delayed = LatencyEnds.of(counts), counts.latency_across_stalls.count > 0
        counters = [name for name in fields_of(counts, int) if name in cls.model_fields]
        return cls(
            **{name: getattr(counts, name) for name in counters if name != "received_bytes"},
            received_bytes=counts.received_bytes or None,
            name=plan.name,
            role=plan.role,
            tx_port=plan.tx_port,
            rx_port=plan.rx_port,
            frame_sizes=_frame_sizes(plan),
            mean_frame_size=plan.mean_frame_size,
            pacing=plan.pacing.kind,
            planned_pps=plan.rate_pps,
            lost=lost,
            loss_ratio=_ratio(lost, lost + counts.received - counts.duplicate),
            latency=LatencyRecord.of(counts.latency),
            samples_across_stalls=counts.latency_across_stalls.count,
            latency_low=LatencyRecord.of(ends.low) if delayed else None,
            latency_high=LatencyRecord.of(ends.high) if delayed else None,
            latency_estimate=LatencyEstimate.of(counts),
            longest=LongestLatency.of(counts, longest),
            latency_us=counts.latency_us,
            lateness=LatencyRecord.of(counts.lateness),
            schedule=None if plan.schedule.always else StreamScheduleRecord.of(plan.schedule),
            timed=not plan.short_signature,
            filtered=plan.filtered,
            taken_from=plan.taken_from,
            flows=FlowSummary.of(plan, counts.flows),
            stamps=counts.stamps,
            captured_pps=plan.pacing.gaps.own_pps if plan.pacing.gaps else None,
        )

    @property
    def offered(self) -> int:
        """Frames that the DUT was offered."""
        return self.lost + self.received - self.duplicate

    @property
    def latency_ends(self) -> tuple[LatencyRecord, LatencyRecord]:
        """What the DUT's latency is at least and at most, as far as the record has both."""
        return self.latency_low or self.latency, self.latency_high or self.latency

    @property
    def path(self) -> tuple[int, int]:
        """The direction it goes: the tester's sending and receiving port."""
        return self.tx_port, self.rx_port


def _frame_sizes(plan: StreamPlan) -> tuple[FrameSizeRecord, ...]:
    """The sizes, ascending, with the smallest whole weights."""
    order = plan.order or range(len(plan.frames))
    counts = Counter(len(plan.frames[index]) + FCS_BYTES for index in order)
    common = math.gcd(*counts.values())
    return tuple(
        FrameSizeRecord(size=size, weight=count // common) for size, count in sorted(counts.items())
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole > 0 else None
