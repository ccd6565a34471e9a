"""The result of an RFC 2544 run: a part for each test, a row for each kind of frames.

Its JSON Schema is published as rfc2544-result.schema.json. All rates are per
direction. A row whose test could not be measured has nulls, and says why in `reason`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.methods.method import PER_DIRECTION, Method, RunAnswer, RunOutcome, rate_text
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.trial_record import Verdict, whole_verdict
from plimsoll.search.strategy.goal_end import LimitedBy

# The journal's event that a row is known: `test` and `row`. A run tells it as it goes on.
ROW = "rfc2544-row"
# What 100 % is: computed from the line rate, or stated for want of one.
MaximumBasis = Literal["line-rate", "stated"]


class MeasuredRow(RecordModel):
    """What all rows have: whether they could be measured."""

    verdict: Verdict | None = Field(
        default=None,
        description="Fail if there is no figure because of the DUT, invalid if because of the "
        "tester, none if there is a figure or the test was not run; null in records of older "
        "versions.",
    )


class Subject(RecordModel):
    """One kind of frames: "64" or "imix simple", their sizes with FCS, and 100 % for them."""

    frames: str = Field(description="The frames in words: 64, or imix simple.")
    sizes: tuple[int, ...] = Field(description="Their sizes with FCS, in bytes.")
    mean_frame_size: float = Field(description="Mean size with FCS, in bytes.")
    maximum_pps: float = Field(
        description="What 100 % is for them per direction, in frames per second."
    )
    maximum_basis: MaximumBasis = Field(description="Where that comes from.")


class RepeatedSpread(RecordModel):
    """Repeated measurements in the unit of their row; no deviation of a single one."""

    count: int = Field(description="How many measurements.")
    mean: float = Field(description="Their mean, in the unit of the row.")
    minimum: float = Field(description="The least, in the unit of the row.")
    maximum: float = Field(description="The greatest, in the unit of the row.")
    deviation: float | None = Field(
        description="Standard deviation, in the unit of the row; null of one alone."
    )


class ThroughputRow(MeasuredRow):
    """Section 26.1, of the load that was offered (RFC 2285)."""

    subject: Subject = Field(description="The frames that the row is about.")
    pps: float | None = Field(
        description="Throughput per direction, in frames per second; null if no "
        "throughput was found."
    )
    intended_pps: float | None = Field(
        default=None,
        description="The load that the final trial was to offer, in pps per direction; null "
        "without a throughput, and in results of earlier versions, whose pps this is.",
    )
    percent_of_maximum: float | None = Field(
        description="The same in per cent of the maximum for these frames."
    )
    l1_bps: float | None = Field(description="The same in bits per second with preamble and gap.")
    limited_by: LimitedBy | None = Field(
        description="What kept the throughput from being higher: the DUT, the platform that took "
        "its CPU, the tester, or the maximum that was searched; null without one."
    )
    final_trial: int | None = Field(
        description="The number of the trial that proved it; null if no trial proved it."
    )
    final_s: float | None = Field(description="How long that trial sent, in s; null without one.")
    trials: int = Field(description="How many trials it took.")
    reason: str | None = Field(
        description="Why there is no throughput, in words; null where there is one."
    )


class AllFrames(RecordModel):
    """Latencies in ns of all load frames of all repetitions of one test.

    Least, mean and greatest are exact over all; a quantile is the worst repetition's.
    """

    count: int = Field(description="Samples.")
    min_ns: int = Field(description="Least latency of all repetitions, in ns, exact.")
    mean_ns: float = Field(description="Mean latency of all repetitions, in ns, exact.")
    p50_ns: int = Field(
        description="Median latency of the worst repetition, in ns, at most 0.78 % high."
    )
    p99_ns: int = Field(
        description="99th percentile of the latency of the worst repetition, in ns, at most 0.78 % "
        "high."
    )
    p99_9_ns: int = Field(
        description="99.9th percentile of the latency of the worst repetition, in ns, at most 0.78 "
        "% high."
    )
    max_ns: int = Field(description="Greatest latency of all repetitions, in ns, exact.")


class LatencyRow(MeasuredRow):
    """Section 26.2: the tagged frames, in ns, and all frames next to them."""

    subject: Subject = Field(description="The frames that the row is about.")
    load_pps: float | None = Field(
        description="Load per direction of the trials, in frames per second, as it was requested "
        "of the tester; null without any."
    )
    tagged_ns: RepeatedSpread | None = Field(
        description="Latencies of the tagged frames, in ns: one frame for each repetition and "
        "direction; null without any."
    )
    all_frames: AllFrames | None = Field(
        description="Latencies of all load frames in the same trials."
    )
    lost: int = Field(description="Frames that the DUT lost in these trials.")
    trials: int = Field(description="How many valid trials the figures are of.")
    reason: str | None = Field(
        description="Why there is no latency, in words; null where there is one."
    )


class LossPoint(RecordModel):
    """One rate of section 26.3."""

    percent: float = Field(description="The rate, in per cent of the maximum for these frames.")
    load_pps: float = Field(
        description="The rate per direction, in frames per second, as it was requested of the "
        "tester."
    )
    offered: int = Field(description="Frames offered in all directions.")
    lost: int | None = Field(
        description="Frames lost in all directions, without what the tester's stalls explain; null "
        "where the trial is invalid."
    )
    loss_percent: float | None = Field(
        description="Loss of the worst direction, in per cent of the frames offered there, without "
        "the same; null where the trial is invalid."
    )
    verdict: Verdict = Field(
        description="Of the trial: pass; fail: frames were lost; invalid: inconclusive because "
        "of the tester."
    )
    reason: str | None = Field(
        description="Why the trial is invalid, in words; null if it is valid."
    )


class FrameLossRow(RecordModel):
    """Section 26.3: from the maximum down."""

    subject: Subject = Field(description="The frames that the row is about.")
    points: tuple[LossPoint, ...] = Field(description="One entry for each rate.")
    complete: bool = Field(
        description="Whether two successive trials were free of loss, as required."
    )


class BackToBackRow(MeasuredRow):
    """Section 26.4: the longest bursts without loss, in frames of each direction."""

    subject: Subject = Field(description="The frames that the row is about.")
    values: tuple[int, ...] = Field(
        description="The longest burst without loss of each repetition, in frames."
    )
    frames: RepeatedSpread | None = Field(
        description="Statistics of those, in frames; null where none was found."
    )
    limit_frames: int = Field(description="The longest burst that was tried, in frames.")
    limit_s: float = Field(description="How long that burst takes, in s.")
    step_frames: int | None = Field(
        description="How far the bounds were apart at the end at most, in frames."
    )
    verifications: int = Field(
        description="How often a burst that lost frames is sent again at most."
    )
    at_limit: int = Field(description="Repetitions that lost nothing even at the limit.")
    reason: str | None = Field(
        description="Why there is no burst, in words; null where there is one."
    )


class RecoveryRow(MeasuredRow):
    """Section 26.5: from the reduction of the rate to the last lost frame, in s."""

    subject: Subject = Field(description="The frames that the row is about.")
    throughput_pps: float | None = Field(
        description="The throughput per direction, in frames per second."
    )
    overload_pps: float | None = Field(
        description="The overload per direction, in frames per second."
    )
    reduced_pps: float | None = Field(
        description="The reduced rate per direction, in frames per second."
    )
    recovery_s: RepeatedSpread | None = Field(
        description="From the reduction to the last lost frame, in s; null if unknown."
    )
    resolution_s: float | None = Field(description="How exactly that is known, in s.")
    not_recovered: int = Field(
        description="Repetitions that still lost frames when the watch ended."
    )
    never_overloaded: int = Field(
        description="Repetitions that lost no frame even while overloaded."
    )
    reason: str | None = Field(
        description="Why there is no recovery time, in words; null where there is one."
    )


class ResetStatement(MeasuredRow):
    """Section 26.6, one for each kind of reset."""

    kind: str = Field(description="The kind of reset.")
    subject: Subject = Field(description="The frames that the row is about.")
    load_pps: float | None = Field(
        description="Load per direction while the DUT was reset, in frames per second, as it was "
        "requested of the tester; null where the test could not be run."
    )
    outage_s: float | None = Field(
        description="Frames lost ÷ the rate offered, in s; null where not run."
    )
    lost: int | None = Field(
        description="Frames lost in the trial in which the DUT was reset; null where the test "
        "could not be run."
    )
    reason: str | None = Field(
        description="Why the test could not be run, in words; null if it was run."
    )


class Rfc2544Parts(RecordModel):
    """The tests, with a row for each kind of frames; null where a test was not requested."""

    throughput: tuple[ThroughputRow, ...] | None = Field(
        default=None, description="Section 26.1; null where it was not requested."
    )
    latency: tuple[LatencyRow, ...] | None = Field(
        default=None, description="Section 26.2; null where it was not requested."
    )
    frame_loss: tuple[FrameLossRow, ...] | None = Field(
        default=None, description="Section 26.3; null where it was not requested."
    )
    back_to_back: tuple[BackToBackRow, ...] | None = Field(
        default=None, description="Section 26.4; null where it was not requested."
    )
    recovery: tuple[RecoveryRow, ...] | None = Field(
        default=None, description="Section 26.5; null where it was not requested."
    )
    reset: tuple[ResetStatement, ...] | None = Field(
        default=None, description="Section 26.6; null where it was not requested."
    )

    @property
    def verdict(self) -> Verdict:
        """Of all rows, and of the rates of a frame loss test that no trial could tell."""
        rows: tuple[MeasuredRow, ...] = (
            *(self.throughput or ()),
            *(self.latency or ()),
            *(self.back_to_back or ()),
            *(self.recovery or ()),
            *(self.reset or ()),
        )
        points = [point for row in self.frame_loss or () for point in row.points]
        spoiled: list[Verdict] = [each.verdict for each in points if each.verdict == "invalid"]
        return whole_verdict([*(row.verdict for row in rows), *spoiled])


class Rfc2544Result(MethodResult):
    """What was found in each test, and the remarks on it."""

    method: Literal["rfc2544"] = Field(
        default="rfc2544", description="What was run, by the name of its command."
    )
    traffic: str = Field(description="Protocol and format of the streams, in words.")
    media: str = Field(description="What carries the frames: the kind of lab and its ports.")
    directions: int = Field(description="How many directions carried load.")
    latency_definition: str = Field(
        description="Which of RFC 1242's definitions the latencies follow."
    )
    parts: Rfc2544Parts = Field(description="The tests, each with a row for each kind of frames.")

    @property
    def verdict(self) -> Verdict:
        """Fail where the DUT is why a figure is missing, else invalid where the tester is."""
        return self.parts.verdict


def _outcome(result: Rfc2544Result) -> RunOutcome:
    parts = result.parts
    if parts.throughput is None:
        # The other tests' figures say nothing without their frame sizes.
        measured = [name for name, rows in parts if rows]
        text = ", ".join(name.replace("_", " ") for name in measured)
        return RunOutcome(RunAnswer(text, "tests", None, ""), result.verdict)
    return _throughput(parts.throughput, result.verdict)


def _throughput(rows: Sequence[ThroughputRow], verdict: Verdict) -> RunOutcome:
    """That of the smallest frames, which are the hardest to forward."""
    found = [row for row in rows if row.pps is not None]
    hardest = min(found, key=lambda row: row.subject.mean_frame_size, default=None)
    if hardest is None or hardest.pps is None:
        none = RunAnswer("no throughput", "throughput", None, PER_DIRECTION)
        return RunOutcome(none, verdict)
    frames = hardest.subject.frames
    text = f"{rate_text(hardest.pps)}, {f'{frames} B' if frames.isdecimal() else frames}"
    answer = RunAnswer(text, "throughput", hardest.pps, PER_DIRECTION)
    proof = hardest.final_trial
    return RunOutcome(answer, verdict, None if proof is None else trial_period(proof))


METHOD = Method(
    "rfc2544",
    command="test rfc2544",
    result=Rfc2544Result,
    schema="rfc2544-result",
    outcome=_outcome,
)
