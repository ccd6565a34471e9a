"""What a soak found: its result.json.

Its JSON Schema is published as soak-result.schema.json.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.methods.method import (
    PER_DIRECTION,
    Method,
    RunAnswer,
    RunOutcome,
    intended_text,
)
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.results.result import DutAgreement
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.units import format_duration, format_pps

# Why a soak is over. One that was killed, or is running, is unfinished.
SoakEnd = Literal["duration", "failure", "signal", "link", "unfinished"]


class SoakWindows(RecordModel):
    """Number of windows by verdict."""

    window_s: float = Field(description="Length of a window, in s.")
    passed: int = Field(description="Windows that passed.")
    failed: int = Field(description="Windows that failed.")
    invalid: int = Field(description="Windows that the tester spoiled.")
    unjudged: int = Field(description="A last window, cut short: 0 or 1.")
    passed_s: float = Field(description="Time of the windows that passed, in s.")
    failed_s: float = Field(description="Time of the windows that failed, in s.")
    invalid_s: float = Field(description="Time of the invalid windows, in s.")
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
    """One trial of the soak: all of it, or what a session ran before or after a kill."""

    trial: int = Field(description="The number of the trial in the run's journal.")
    begin_unix_ns: int = Field(description="When its first frame was due: UTC, in ns since 1970.")
    gap_s: float = Field(
        description="Time without traffic since the segment before ended, in s; 0 of the first, "
        "and where a clock set back before another boot leaves it unknown."
    )
    sending_s: float = Field(
        description="How long frames were sent, in s, of one that was killed up to the end of its "
        "last window; the drain afterwards is not counted."
    )
    windows: int = Field(description="How many windows the segment had.")
    verdict: Verdict = Field(
        description="pass; fail: the DUT broke a criterion; invalid: inconclusive because of the "
        "tester; none: it was killed."
    )
    reasons: tuple[FindingRecord, ...] = Field(
        description="The findings that made it fail or invalid."
    )
    streams: tuple[StreamRecord, ...] = Field(
        description="Totals and latency of each stream; empty of a segment that was killed."
    )


class SoakLossEvent(RecordModel):
    """Adjacent intervals in which frames were lost."""

    trial: int = Field(description="The number of the trial that it lies in, in the run's journal.")
    at_s: float = Field(description="When it began, in s since the soak's first frame.")
    length_s: float = Field(description="How long frames were lost, in s.")
    frames: int = Field(description="Frames lost in it.")


class SoakLosses(RecordModel):
    """Losses that no stall of the tester explains."""

    frames: int = Field(description="Frames lost in all.")
    event_count: int = Field(description="How many loss events there were.")
    events: tuple[SoakLossEvent, ...] = Field(description="The 100 largest, by time.")
    no_loss_s: float | None = Field(
        description="Time of all judged windows, in s, when none lost a frame; else null."
    )
    events_per_hour_below: float | None = Field(
        description="Bound of the rate of loss events, per hour, with 95 % confidence; null where "
        "there was one."
    )


class SeriesDrift(RecordModel):
    """How a series changed from the soak's start to its end, by the medians of both.

    The slope is over medians of equal times, its interval after Sen.
    """

    of: str = Field(description="What the series belongs to: a stream, port or host.")
    kind: Literal["rate", "p50", "p99"] = Field(description="Which of its figures.")
    unit: str = Field(description="The unit of `first`, `last` and, per hour, the slopes.")
    span_s: float = Field(
        description="Length of the start and of the end whose medians are `first` and `last`, in s."
    )
    first: float = Field(description="Median of the start.")
    last: float = Field(description="Median of the end.")
    slope_per_hour: float = Field(description="Slope per hour, by Theil and Sen.")
    slope_low: float = Field(description="Lower end of its 95 % interval, per hour.")
    slope_high: float = Field(description="Upper end of its 95 % interval, per hour.")
    drifts: bool = Field(
        description="Whether the series moves by more than its noise and its resolution."
    )
    text: str = Field(description="The same as a sentence.")


class LatencySpike(RecordModel):
    """An interval whose worst latency stands out."""

    trial: int = Field(description="The number of the trial that it lies in, in the run's journal.")
    at_s: float = Field(description="When, in s since the soak's first frame.")
    stream: str = Field(description="The stream's name.")
    latency_ns: int = Field(description="The interval's worst latency, in ns.")
    cause: str = Field(description="What caused it, as far as known.")


class SoakSpikes(RecordModel):
    """Latencies of many times what is usual for the worst of an interval."""

    factor: float = Field(description="How many times the usual a latency has to be to count.")
    usual_ns: dict[str, float] = Field(
        description="Median of the intervals' worst latencies, in ns, by stream."
    )
    counts: dict[str, int] = Field(description="How many there were, by cause.")
    worst: tuple[LatencySpike, ...] = Field(description="The 20 largest of each cause.")


class SoakTester(RecordModel):
    """The tester's own stalls: all of them, the longest, and the worst window's share."""

    stalls: int = Field(
        description="Stalls of all polling loops in all the soak: gaps longer than the trial's "
        "limit."
    )
    worst_stall_ns: int = Field(
        description="The longest stall in all the soak, in ns; 0 without one."
    )
    worst_stalled_share: float = Field(description="The worst window's stalled share (1 is all).")


class SoakResult(MethodResult):
    """A soak at one load."""

    method: Literal["soak"] = Field(
        default="soak", description="What was run, by the name of its command."
    )
    load: str = Field(description="The load as the user wrote it.")
    load_pps: float = Field(
        description="Load per direction, in frames per second, as it was requested of the tester."
    )
    offered_pps: float | None = Field(
        default=None,
        description="The load that its segments offered, in pps per direction, weighted by their "
        "length; null where no segment has ended, and in results of earlier versions.",
    )
    requested_s: float = Field(description="The duration requested, in s.")
    sent_s: float = Field(description="How long frames were sent in all, in s.")
    ended: SoakEnd = Field(
        description="Why it ended: its duration was over, a failure, a signal, a link that went; "
        "unfinished where a kill left it."
    )
    verdict: Verdict = Field(
        description="fail: a window or a whole segment failed; pass: all segments passed or are "
        "undecided, no window failed, and few enough are undecided; else invalid."
    )
    criteria: tuple[dict[str, JsonValue], ...] = Field(
        description="The criteria that were applied, as the experiment has them, with all defaults."
    )
    windows: SoakWindows = Field(description="Number of windows by verdict, and their length.")
    segments: tuple[SoakSegment, ...] = Field(
        description="The trials of the run; one more for each time that it was resumed."
    )
    losses: SoakLosses = Field(
        description="What was lost, without what stalls of the tester explain."
    )
    drift: tuple[SeriesDrift, ...] = Field(
        description="How series moved from the start to the end."
    )
    spikes: SoakSpikes = Field(description="Latencies far above what is usual.")
    tester: SoakTester = Field(description="The tester's own stalls.")
    dut_agreement: DutAgreement | None = Field(
        description="Whether the DUT's counters agree with the tester's; null where it has none."
    )


def _outcome(result: SoakResult) -> RunOutcome:
    intended_pps = result.load_pps
    load_pps = intended_pps if result.offered_pps is None else result.offered_pps
    at = f"{format_pps(load_pps)}{intended_text(load_pps, intended_pps)}"
    text = f"{result.verdict} at {at} for {format_duration(result.sent_s)}"
    answer = RunAnswer(text, "load", load_pps, PER_DIRECTION)
    longest = max(result.segments, key=lambda segment: segment.sending_s, default=None)
    period = None if longest is None else trial_period(longest.trial)
    return RunOutcome(answer, result.verdict, period, complete=result.ended != "signal")


METHOD = Method("soak", command="soak", result=SoakResult, schema="soak-result", outcome=_outcome)
