"""What came of a stream's flows in a trial: one by one, and those that the trial record names."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Self

from pydantic import Field

from plimsoll.generator.interface import FlowCounts
from plimsoll.record.files.record_model import RecordModel
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.flows import flow_name

# Those of 65,536 that a record names; the others are in the trial's table.
_NAMED = 64


class FlowRecord(RecordModel):
    """One flow of a stream in a trial.

    Refused frames belong to no flow. The next frame takes their place in the sequence.
    """

    flow: int = Field(description="The flow's number in its stream, from 0.")
    name: str = Field(description="What distinguishes it from the others, as the tester sends it.")
    sent: int = Field(description="Its frames that the tester's port accepted.")
    received: int = Field(description="Its whole frames that came in, duplicates among them.")
    duplicate: int = Field(description="Of them, those that had come before.")
    lost: int = Field(description="Its frames that were sent and did not come in.")
    latency_min_ns: int | None = Field(
        description="The shortest latency of its frames, in ns; null if no frame was timed."
    )
    latency_mean_ns: float | None = Field(
        description="The mean latency of its frames, in ns; null if no frame was timed."
    )
    latency_max_ns: int | None = Field(
        description="The longest latency of its frames, in ns; null if no frame was timed. "
        "4294967295 means that or more."
    )


class FlowSummary(RecordModel):
    """A stream's flows in short; all of them are in `flows/<trial>.parquet` of the run."""

    flows: int = Field(description="How many flows were counted.")
    lossy: int = Field(description="How many of them lost frames.")
    unseen: int = Field(description="How many were sent, and no frame of them came in.")
    worst: tuple[FlowRecord, ...] = Field(
        description="Those that lost frames, the most first; at most 64."
    )
    slowest: FlowRecord | None = Field(
        description="The one with the longest latency; null where no frame was timed."
    )

    @classmethod
    def of(cls, plan: StreamPlan, counts: FlowCounts | None) -> Self | None:
        """None where the stream was not counted by flow."""
        if counts is None:
            return None
        numbers = range(len(counts.sent))
        lossy = [flow for flow in numbers if counts.missing(flow) > 0]
        worst = heapq.nsmallest(_NAMED, lossy, key=lambda flow: (-counts.missing(flow), flow))
        timed = [flow for flow in numbers if counts.timed[flow]]
        slowest = max(timed, key=lambda flow: counts.latency_max_ns[flow] or 0, default=None)
        return cls(
            flows=len(numbers),
            lossy=len(lossy),
            unseen=sum(counts.sent[flow] > 0 == counts.received[flow] for flow in numbers),
            worst=tuple(_flow(plan, counts, flow) for flow in worst),
            slowest=None if slowest is None else _flow(plan, counts, slowest),
        )


def flow_records(plan: StreamPlan, counts: FlowCounts) -> Iterator[FlowRecord]:
    """All of a stream, by number."""
    return (_flow(plan, counts, flow) for flow in range(len(counts.sent)))


def _flow(plan: StreamPlan, counts: FlowCounts, flow: int) -> FlowRecord:
    timed = counts.timed[flow]
    return FlowRecord(
        flow=flow,
        name=flow_name(plan, flow),
        sent=counts.sent[flow],
        received=counts.received[flow],
        duplicate=counts.duplicate[flow],
        lost=counts.missing(flow),
        latency_min_ns=counts.latency_min_ns[flow],
        latency_mean_ns=counts.latency_sum_ns[flow] / timed if timed else None,
        latency_max_ns=counts.latency_max_ns[flow],
    )
