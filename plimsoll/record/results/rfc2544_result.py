"""The result of an RFC 2544 run: a part for each test, a row for each kind of frames.

Its JSON Schema is published as docs/schemas/rfc2544-result.schema.json. All rates are per
direction. A row whose test could not be measured has nulls, and says why in `reason`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.goal_end import LimitedBy
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.record.trials.whole_verdict import whole_verdict

# The journal's event that a row is known: `test` and `row`. A run tells it as it goes on.
ROW = "rfc2544-row"
# What 100 % is: computed from the line rate, or stated for want of one.
MaximumBasis = Literal["line-rate", "stated"]


class MeasuredRow(RecordModel):
    """What all rows have: whether they could be measured."""

    verdict: Verdict | None = Field(
        default=None,
        description="Fail where the DUT is why there is no figure, invalid where the tester is, "
        "none where there is one or the test was not run; null in records of older versions.",
    )


class Subject(RecordModel):
    """One kind of frames: "64" or "imix simple", their sizes with FCS, and 100 % for them."""

    frames: str
    sizes: tuple[int, ...]
    mean_frame_size: float
    maximum_pps: float
    maximum_basis: MaximumBasis


class RepeatedSpread(RecordModel):
    """Repeated measurements in the unit of their row; no deviation of a single one."""

    count: int
    mean: float
    minimum: float
    maximum: float
    deviation: float | None


class ThroughputRow(MeasuredRow):
    """Section 26.1. `pps` and what follows from it is the load that `final_trial`, which proved
    it, offered (RFC 2285); `l1_bps` is with preamble and gap.
    """

    subject: Subject
    pps: float | None
    intended_pps: float | None = Field(
        default=None,
        description="The load that the final trial was to offer, in pps per direction; null "
        "without a throughput, and in results of earlier versions, whose pps this is.",
    )
    percent_of_maximum: float | None
    l1_bps: float | None
    limited_by: LimitedBy | None
    final_trial: int | None
    final_s: float | None
    trials: int
    reason: str | None


class AllFrames(RecordModel):
    """Latencies in ns of all load frames of all repetitions of one test.

    Least, mean and greatest are exact over all; a quantile is the worst repetition's.
    """

    count: int
    min_ns: int
    mean_ns: float
    p50_ns: int
    p99_ns: int
    p99_9_ns: int
    max_ns: int


class LatencyRow(MeasuredRow):
    """Section 26.2: the tagged frames, in ns, and all frames next to them.

    `tagged_ns` has one frame for each repetition and direction. `lost` are the frames that
    the DUT lost in these trials.
    """

    subject: Subject
    load_pps: float | None
    tagged_ns: RepeatedSpread | None
    all_frames: AllFrames | None
    lost: int
    trials: int
    reason: str | None


class LossPoint(RecordModel):
    """One rate of section 26.3; `percent` is of the maximum.

    `lost` and `loss_percent` are what the DUT lost of what it was offered, of the worst
    direction; null where no trial was valid.
    """

    percent: float
    load_pps: float
    offered: int
    lost: int | None
    loss_percent: float | None
    verdict: Verdict
    reason: str | None


class FrameLossRow(RecordModel):
    """Section 26.3. Not `complete` where no two successive trials were free of loss."""

    subject: Subject
    points: tuple[LossPoint, ...]
    complete: bool


class BackToBackRow(MeasuredRow):
    """Section 26.4: the longest bursts without loss, in frames of each direction.

    `values` has one for each repetition of the search. `limit_frames` is the longest burst
    that was tried, `step_frames` how far the bounds were apart at the end at most.
    `at_limit` repetitions lost nothing even at the limit, or at the longest burst that the
    tester could send: their values only say "at least".
    """

    subject: Subject
    values: tuple[int, ...]
    frames: RepeatedSpread | None
    limit_frames: int
    limit_s: float
    step_frames: int | None
    verifications: int
    at_limit: int
    reason: str | None


class RecoveryRow(MeasuredRow):
    """Section 26.5: from the reduction of the rate to the last lost frame, in s.

    A time is known to `resolution_s`: the frame was lost before its end, and less than that
    before. `not_recovered` repetitions still lost frames when the watch ended.
    `never_overloaded` of them lost no frame even while overloaded.
    """

    subject: Subject
    throughput_pps: float | None
    overload_pps: float | None
    reduced_pps: float | None
    recovery_s: RepeatedSpread | None
    resolution_s: float | None
    not_recovered: int
    never_overloaded: int
    reason: str | None


class ResetStatement(MeasuredRow):
    """Section 26.6, one for each kind of reset.

    `outage_s` is the frames lost ÷ the rate offered, as RFC 6201 has it, null where the
    test could not be run; `reason` then says why.
    """

    kind: str
    subject: Subject
    load_pps: float | None
    outage_s: float | None
    lost: int | None
    reason: str | None


class Rfc2544Parts(RecordModel):
    """The tests, with a row for each kind of frames; null where a test was not requested."""

    throughput: tuple[ThroughputRow, ...] | None = None
    latency: tuple[LatencyRow, ...] | None = None
    frame_loss: tuple[FrameLossRow, ...] | None = None
    back_to_back: tuple[BackToBackRow, ...] | None = None
    recovery: tuple[RecoveryRow, ...] | None = None
    reset: tuple[ResetStatement, ...] | None = None

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
    """What was found in each test, and the remarks on it.

    `traffic` tells protocol and format of the streams, `media` what carries them,
    `latency_definition` which of RFC 1242's definitions the latencies follow.
    """

    method: Literal["rfc2544"] = "rfc2544"
    traffic: str
    media: str
    directions: int
    latency_definition: str
    parts: Rfc2544Parts

    @property
    def verdict(self) -> Verdict:
        """Fail where the DUT is why a figure is missing, else invalid where the tester is."""
        return self.parts.verdict
