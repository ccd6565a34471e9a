"""What a trial shows apart from its verdict, small enough for the journal: searches steer by it."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.disturbance import Disturbance


class LossSample(RecordModel):
    """An interval in which frames were lost that no stall of the tester explains."""

    begin_s: float
    end_s: float
    frames: int


class LatencyPeak(RecordModel):
    """The worst latency of load frames in an interval, tester stalls left out.

    A DUT that stops looking for a while delays the frame that came first by as long, so
    peaks show its stalls before they lose anything.
    """

    at_s: float
    max_ns: int


class OfferedInterval(RecordModel):
    """An interval of a trial, and the load per direction that was offered in it."""

    begin_s: float = Field(description="When it began, in s since the trial's first frame.")
    end_s: float = Field(description="When it ended, in s since the trial's first frame.")
    pps: float = Field(
        description="The offered load in it, in pps per direction, by the load stream that was "
        "offered the least part of what was due."
    )


class TrialEvidence(RecordModel):
    """A trial's evidence. Times are in s since its first frame, latencies those of load frames.

    `loss_ratio` is that of the worst direction, `lost` the frames of all directions, both
    without what the tester's stalls explain. `losses` are by time, at most 256 of them: the
    first 128 and the 128 largest of the rest; `lossy_intervals` counts them all. `peaks` are
    the 64 largest. `latency_growth` is the median slope of the intervals' median latency, in
    ns per s (Theil and Sen), of the direction in which it is steepest; a queue that only
    grows has one. `forwarded_pps` is what came back per direction, of the worst one;
    `offered_pps` is the load per direction that the tester reached, by the stream that was
    offered the least part of what was due. Null where no stream has a rate, and in records
    of versions that did not measure it.
    """

    sending_s: float
    intervals: int
    offered: int
    lost: int
    loss_ratio: float
    forwarded_pps: float
    first_loss_s: float | None
    lossy_intervals: int
    losses: tuple[LossSample, ...]
    min_ns: int | None
    p50_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    latency_growth: float | None
    peaks: tuple[LatencyPeak, ...]
    offered_pps: float | None = None
    least_offered: OfferedInterval | None = Field(
        default=None,
        description="The interval in which the tester fell shortest of the intended load; null "
        "where no load stream has a rate, and in records of versions that did not look for it.",
    )
    disturbances: tuple[Disturbance, ...] = Field(
        default=(),
        description="What took CPUs from the DUT's polling loops on this host, at most 16 causes, "
        "those that took most first. Empty where no kernel events are recorded.",
    )
