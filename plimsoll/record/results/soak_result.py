"""What a soak found: its result.json.

Its JSON Schema is published as docs/schemas/soak-result.schema.json.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.results.result import DutAgreement
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import FindingRecord, Verdict

# Why a soak is over. One that was killed, or is running, is unfinished.
SoakEnd = Literal["duration", "failure", "signal", "link", "unfinished"]


class SoakWindows(RecordModel):
    """How many windows ended how; `unjudged` is a last one, cut short. Times are in s."""

    window_s: float
    passed: int
    failed: int
    invalid: int
    unjudged: int
    passed_s: float
    failed_s: float
    invalid_s: float
    undecided: int = Field(
        default=0,
        description="Windows of which stalls of the tester leave open whether the DUT kept a "
        "latency criterion; nothing else was broken in them.",
    )
    undecided_s: float = Field(default=0.0, description="Time of the undecided windows, in s.")
    undecided_limit: float | None = Field(
        default=None,
        description="The largest share of judged windows that may be undecided in a soak that "
        "passes (1 is all); null in results of earlier versions, which knew none.",
    )


class SoakSegment(RecordModel):
    """One trial of the soak: all of it, or what a session ran before or after a kill.

    `gap_s` is the time without traffic before it. A segment that was killed has no verdict
    ("none") and no streams, and counts up to the end of its last window.
    """

    trial: int
    begin_unix_ns: int
    gap_s: float
    sending_s: float
    windows: int
    verdict: Verdict
    reasons: tuple[FindingRecord, ...]
    streams: tuple[StreamRecord, ...]


class SoakLossEvent(RecordModel):
    """Adjacent intervals in which frames were lost; `at_s` since the soak's first frame."""

    trial: int
    at_s: float
    length_s: float
    frames: int


class SoakLosses(RecordModel):
    """Losses that no stall of the tester explains.

    `events` are the 100 largest of `event_count`, by time. `no_loss_s` is the time of all
    judged windows when none of them lost a frame, and the rate of loss events per hour is
    then below `events_per_hour_below` with 95 % confidence; both are null otherwise.
    """

    frames: int
    event_count: int
    events: tuple[SoakLossEvent, ...]
    no_loss_s: float | None
    events_per_hour_below: float | None


class SeriesDrift(RecordModel):
    """How a series moved from the soak's start to its end, medians of each.

    `first` and `last` are of `span_s` at either end. The slope per hour is that of Theil and
    Sen over medians of equal times, with its 95 % interval after Sen. `drifts` says that
    zero lies outside of it and that the change is more than the measurement's resolution.
    """

    of: str
    kind: Literal["rate", "p50", "p99"]
    unit: str
    span_s: float
    first: float
    last: float
    slope_per_hour: float
    slope_low: float
    slope_high: float
    drifts: bool
    text: str


class LatencySpike(RecordModel):
    """An interval whose worst latency stands out; `at_s` since the soak's first frame."""

    trial: int
    at_s: float
    stream: str
    latency_ns: int
    cause: str


class SoakSpikes(RecordModel):
    """Latencies of more than `factor` times what is usual for the worst of an interval.

    `usual_ns` is the median of the intervals' worst latencies, by stream. `worst` are the
    20 largest of each cause; `counts` is by cause, of those that the record has kept.
    """

    factor: float
    usual_ns: dict[str, float]
    counts: dict[str, int]
    worst: tuple[LatencySpike, ...]


class SoakTester(RecordModel):
    """The tester's own stalls: all of them, the longest, and the worst window's share."""

    stalls: int
    worst_stall_ns: int
    worst_stalled_share: float


class SoakResult(MethodResult):
    """A soak at `load_pps` per direction: `requested_s` were requested, `sent_s` sent.

    The verdict is fail when a window or a whole segment failed; pass when all segments
    passed or are undecided, no window failed and few enough are undecided; else invalid. `notes`
    are sentences for people.
    """

    method: Literal["soak"] = "soak"
    load: str
    load_pps: float
    offered_pps: float | None = Field(
        default=None,
        description="The load that its segments offered, in pps per direction, weighted by their "
        "length; null where no segment has ended, and in results of earlier versions.",
    )
    requested_s: float
    sent_s: float
    ended: SoakEnd
    verdict: Verdict
    criteria: tuple[dict[str, JsonValue], ...]
    windows: SoakWindows
    segments: tuple[SoakSegment, ...]
    losses: SoakLosses
    drift: tuple[SeriesDrift, ...]
    spikes: SoakSpikes
    tester: SoakTester
    dut_agreement: DutAgreement | None
