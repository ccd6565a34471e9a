"""The tester's calibration: what it measures of itself, published with every result."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.record.trials.trial_record import TrialRecord


class CalibrationPoint(BaseModel):
    """The tester's own floor at one load, measured over a loopback without a DUT.

    Rates count the load streams and their directions alone, or the probes where there is no
    load.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(description="What the point is of.")
    load_pps: float = Field(description="Intended load per direction, in frames per second.")
    sent_pps: float = Field(description="Mean of what a direction sent, in frames per second.")
    reached: float = Field(
        description="Share (1 is all) of its planned frames that the worst stream sent."
    )
    sending_s: float = Field(
        description="How long frames were sent, in s; the drain afterwards is not counted."
    )
    latency: LatencyRecord = Field(
        description="Latency of the first probe, over a loopback without a DUT."
    )
    stalls: int = Field(
        description="Stalls of all polling loops: gaps longer than the trial's limit."
    )
    worst_stall_ns: int = Field(description="The longest stall, in ns; 0 without one.")
    stalled_share: float = Field(
        description="Time that the worst loop stalled, as a share of the time (1 is all)."
    )

    @classmethod
    def from_trial(cls, name: str, trial: TrialRecord) -> Self:
        """The point that a calibration trial measured; its latency is the first probe's.

        Without a latency stream it is the first stream's. The trial must have
        streams and a sending time.
        """
        measured = [s for s in trial.streams if s.role == "load"] or list(trial.streams)
        sent = sum(stream.sent for stream in measured)
        probes = [stream for stream in trial.streams if stream.role == "latency"]
        stalled_ns = max((worker.stalled_ns for worker in trial.workers), default=0)
        return cls(
            name=name,
            load_pps=trial.load_pps,
            sent_pps=sent / trial.sending_s / len({stream.path for stream in measured}),
            reached=min(
                (
                    stream.sent / (stream.planned_pps * trial.sending_s)
                    for stream in measured
                    if stream.planned_pps is not None
                ),
                default=1.0,
            ),
            sending_s=trial.sending_s,
            latency=(probes or list(trial.streams))[0].latency,
            stalls=sum(worker.stalls for worker in trial.workers),
            worst_stall_ns=max((worker.worst_stall_ns for worker in trial.workers), default=0),
            stalled_share=stalled_ns / 1e9 / trial.sending_s,
        )


class TesterCalibration(BaseModel):
    """All points of one calibration, and how they were taken. Never subtracted from a result."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    how: str = Field(description="How the points were taken.")
    points: tuple[CalibrationPoint, ...] = Field(description="One point for each load.")
    taken_in: str | None = Field(
        default=None, description="The run of the same matrix that took it; null for its own."
    )
