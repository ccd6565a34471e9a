"""A window of a long trial, judged by itself, as the journal keeps it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.record.trials.trial_evidence import LossSample
from plimsoll.record.trials.trial_record import FindingRecord
from plimsoll.traffic.plan import Role

# Undecided: nothing failed, and a latency criterion alone is open for the tester's stalls.
WindowVerdict = Literal["pass", "fail", "invalid", "none", "undecided"]


class WindowStream(RecordModel):
    """One stream in a window. `loss_ratio` is lost ÷ offered; null when none was offered.

    Lost are the frames found missing in the window; received are those sent in it that were
    not, whenever they came back.
    """

    name: str
    role: Role
    tx_port: int
    rx_port: int
    sent: int
    received: int
    lost: int
    loss_ratio: float | None
    latency: LatencyRecord
    samples_across_stalls: int
    latency_low: LatencyRecord | None = Field(
        default=None,
        description="The latency of all frames received in it, less the most that stalls of the "
        "tester can have delayed each: the DUT's is at least this. Null where no stall can have "
        "delayed any, as it is `latency` then, and in records of earlier versions.",
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
    """The window `index` (from 1) of trial `trial`; times in s since the trial's first frame.

    Judged as if it were a trial: `reasons` are the findings that made it fail or invalid.
    The verdict "none" is that of a last one cut short, too short to judge, and "undecided" that
    of one whose latency criteria alone are invalid, as stalls of the tester leave open whether the
    DUT kept them. Of `lost` frames
    and `loss_events` what the tester's stalls explain is left out; adjacent intervals with
    losses are one event, and `losses` are the 32 largest, by time.
    The stalls are those of all the tester's loops; `stalled_share` is the worst loop's.
    """

    trial: int
    index: int = Field(ge=1)
    begin_s: float
    end_s: float
    sending_s: float
    begin_unix_ns: int
    verdict: WindowVerdict
    reasons: tuple[FindingRecord, ...]
    streams: tuple[WindowStream, ...]
    lost: int
    loss_events: int
    losses: tuple[LossSample, ...]
    stalls: int
    worst_stall_ns: int
    stalled_share: float
