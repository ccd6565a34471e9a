"""A window of a long trial, judged by itself, as the journal keeps it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.search.evidence.trial_evidence import LossSample
from plimsoll.traffic.plan import Role

# Undecided: nothing failed, and a latency criterion alone is open for the tester's stalls.
WindowVerdict = Literal["pass", "fail", "invalid", "none", "undecided"]


class WindowStream(RecordModel):
    """One stream in a window."""

    name: str = Field(description="The stream's name.")
    role: Role = Field(
        description="load, or latency for a probe stream that is only there to be timed."
    )
    tx_port: int = Field(description="The tester's port that sends the stream, from 0.")
    rx_port: int = Field(
        description="The tester's port on which the stream must come back, from 0."
    )
    sent: int = Field(
        description="Frames of the stream that the sending port accepted in the window."
    )
    received: int = Field(
        description="Frames sent in the window that were not lost, whenever they came."
    )
    lost: int = Field(
        description="Frames found missing in the window, and, where the lab holds the DUT "
        "responsible for its queue, those refused."
    )
    loss_ratio: float | None = Field(
        description="lost ÷ offered in the window, a share (1 is all); null when nothing was "
        "offered."
    )
    latency: LatencyRecord = Field(
        description="One-way latency of its frames received in the window, without samples that a "
        "stall of the tester may have made longer."
    )
    samples_across_stalls: int = Field(
        description="Received frames whose latency a stall of the tester may have made longer; "
        "they are left out of `latency`."
    )
    latency_low: LatencyRecord | None = Field(
        default=None,
        description="The latency of all frames received in it, less the most that stalls of the "
        "tester can have delayed each: the DUT's is at least this. Null if no stall can have "
        "delayed a sample (then see `latency`), and in records of earlier versions.",
    )
    latency_high: LatencyRecord | None = Field(
        default=None,
        description="The same as measured: the DUT's is at most this. Null where `latency_low` is.",
    )

    @property
    def latency_ends(self) -> tuple[LatencyRecord, LatencyRecord]:
        """What the DUT's latency is at least and at most, as far as the record has both."""
        return self.latency_low or self.latency, self.latency_high or self.latency


class WindowRecord(RecordModel):
    """A window of a long trial, judged as if it were a trial.

    Adjacent intervals with losses are one event.
    """

    trial: int = Field(description="The number of the trial that it lies in, in the run's journal.")
    index: int = Field(ge=1, description="The window's number in its trial, from 1.")
    begin_s: float = Field(description="Where it begins, in s since the trial's first frame.")
    end_s: float = Field(description="Where it ends, in s since the trial's first frame.")
    sending_s: float = Field(description="How long frames were sent in it, in s.")
    begin_unix_ns: int = Field(description="When the window began: UTC, in ns since 1970.")
    verdict: WindowVerdict = Field(
        description="pass; fail: the DUT broke a criterion; invalid: inconclusive because of the "
        "tester; undecided: stalls of the tester leave open whether a latency criterion was "
        "kept, and nothing failed; none: cut short."
    )
    reasons: tuple[FindingRecord, ...] = Field(
        description="The findings that made it fail or invalid."
    )
    streams: tuple[WindowStream, ...] = Field(description="One entry for each stream.")
    lost: int = Field(description="Frames lost in it, without what the tester's stalls explain.")
    loss_events: int = Field(description="Stretches of intervals with losses, without the same.")
    losses: tuple[LossSample, ...] = Field(description="The 32 largest losses, by time.")
    stalls: int = Field(
        description="Stalls of all the tester's polling loops in it: gaps longer than the trial's "
        "limit."
    )
    worst_stall_ns: int = Field(description="The longest stall, in ns; 0 without one.")
    stalled_share: float = Field(
        description="Time that the worst loop stalled, as a share of the time (1 is all)."
    )
