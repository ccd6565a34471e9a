"""What a trial shows apart from its verdict, small enough for the journal: searches steer by it."""

from __future__ import annotations

from pydantic import Field

from .disturbance import Disturbance
from .evidence_model import EvidenceModel


class LossSample(EvidenceModel):
    """An interval in which frames were lost that no stall of the tester explains."""

    begin_s: float = Field(
        description="Where the interval begins, in s since the trial's first frame."
    )
    end_s: float = Field(description="Where it ends, in s since the trial's first frame.")
    frames: int = Field(description="Frames lost in it.")


class LatencyPeak(EvidenceModel):
    """The worst latency of load frames in an interval, tester stalls left out.

    A DUT that stops looking for a while delays the frame that came first by as long, so
    peaks show its stalls before they lose anything.
    """

    at_s: float = Field(description="The interval, in s since the trial's first frame.")
    max_ns: int = Field(
        description="The worst latency of load frames in it, in ns, without samples that a stall "
        "of the tester may have made longer."
    )


class OfferedInterval(EvidenceModel):
    """An interval of a trial, and the load per direction that was offered in it."""

    begin_s: float = Field(description="When it began, in s since the trial's first frame.")
    end_s: float = Field(description="When it ended, in s since the trial's first frame.")
    pps: float = Field(
        description="The offered load in it, in pps per direction, by the load stream that was "
        "offered the least part of what was due."
    )


class TrialEvidence(EvidenceModel):
    """A trial's evidence. Times are in s since its first frame, latencies those of load frames."""

    sending_s: float = Field(
        description="How long frames were sent, in s; the drain afterwards is not counted."
    )
    intervals: int = Field(description="How many intervals of the trial were looked at.")
    offered: int = Field(description="Frames offered in all directions.")
    lost: int = Field(
        description="Frames lost in all directions, without what the tester's stalls explain."
    )
    loss_ratio: float = Field(
        description="Loss of the worst direction, a share (1 is all), without what the tester's "
        "stalls explain."
    )
    forwarded_pps: float = Field(
        description="Frames per second that came back, per direction, of the direction with least."
    )
    first_loss_s: float | None = Field(
        description="When the first frame was lost, in s since the first frame."
    )
    lossy_intervals: int = Field(description="Intervals in which frames were lost.")
    losses: tuple[LossSample, ...] = Field(
        description="Intervals with losses by time, at most 256: the first 128, and the 128 "
        "largest of the others."
    )
    min_ns: int | None = Field(
        description="Least latency of load frames, in ns, exact; null without samples."
    )
    p50_ns: int | None = Field(
        description="Median latency of load frames, in ns, at most 0.78 % high; null without "
        "samples."
    )
    p99_ns: int | None = Field(
        description="99th percentile of the latency of load frames, in ns, at most 0.78 % high; "
        "null without samples."
    )
    max_ns: int | None = Field(
        description="Greatest latency of load frames, in ns, exact; null without samples."
    )
    latency_growth: float | None = Field(
        description="Median slope of the intervals' median latency, in ns per s (Theil and Sen), "
        "of the direction in which it is steepest. A queue that only grows has one."
    )
    peaks: tuple[LatencyPeak, ...] = Field(description="The largest latency peaks; at most 64.")
    offered_pps: float | None = Field(
        default=None,
        description="Load per direction that the tester reached, in frames per second, by the "
        "stream that was offered the least part of what was due. Null where no stream has a rate, "
        "and in records of versions that did not measure it.",
    )
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
