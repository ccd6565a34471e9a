"""The tester's calibration: what it measures of itself, published with every result."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict

from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.record.trials.trial_record import TrialRecord


class CalibrationPoint(BaseModel):
    """The tester's own floor at one load, measured over a loopback without a DUT.

    `load_pps` is the intended load per direction. `sent_pps` is what a direction sent in
    the mean, and `reached` the share (1 is all) of its planned frames that the
    worst stream with a rate sent. Both count the load streams and their directions alone, or
    the probes where there is no load. The stalls are those of all polling loops;
    `stalled_share` is the worst loop's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    load_pps: float
    sent_pps: float
    reached: float
    sending_s: float
    latency: LatencyRecord
    stalls: int
    worst_stall_ns: int
    stalled_share: float

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
    """All points of one calibration, and how they were taken. Never subtracted from a result.

    `taken_in` names the run of the same matrix that took it of the same tester; None where the
    run did so itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    how: str
    points: tuple[CalibrationPoint, ...]
    taken_in: str | None = None
