"""A trial that is run, watched, judged and recorded: the step all methods are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.benchmark.session import Session
from plimsoll.benchmark.testbed import Testbed
from plimsoll.dut.lab import DutPortCounters
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.record.recorder import TrialRecorder
from plimsoll.record.trial_record import DutPortRecord, TrialPhase, TrialRecord
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.early_abort import EarlyAbort
from plimsoll.trial.outcome import Outcome
from plimsoll.trial.verdict import Judgement, judge


@dataclass(frozen=True)
class TrialRequest:
    """What to run. Unjudged trials (warm-up, calibration) have the verdict "none"."""

    phase: TrialPhase
    load_pps: float
    duration_s: float
    streams: tuple[StreamPlan, ...]
    attempt: int = 1
    judged: bool = True


@dataclass(frozen=True)
class TrialRunner:
    """Runs a session's trials on one test bed."""

    session: Session
    bed: Testbed

    def run(self, request: TrialRequest) -> TrialRecord:
        """Run it to its verdict; the record is on disk when this returns."""
        number = self.session.recorder.history().next_trial_number()
        plan = self.bed.plan(self.session.experiment.trial, request.streams, request.duration_s)
        with self.session.recorder.trial(
            plan,
            number=number,
            phase=request.phase,
            load_pps=request.load_pps,
            attempt=request.attempt,
            refused_is_lost=self.bed.ports.drained_by == "dut",
        ) as recording:
            self.session.watcher.trial_started(number, request.phase, request.load_pps, plan)
            outcome = self.bed.trial(plan, request.load_pps, self._watch(plan, request, recording))
            record = self._record(number, request, outcome)
            recording.end(record)
        self.session.watcher.trial_ended(record)
        return record

    def _watch(
        self, plan: TrialPlan, request: TrialRequest, recording: TrialRecorder
    ) -> Callable[[Interval], bool]:
        """Record and show each interval; stop a trial whose verdict is settled."""
        abort = EarlyAbort(
            plan,
            self.session.experiment.criteria,
            self.bed.ports.drained_by,
            self.bed.ports.queue_frames,
        )

        def watch(interval: Interval) -> bool:
            recording.interval(interval)
            self.session.watcher.interval(interval)
            return abort(interval) and request.judged

        return watch

    def _record(self, number: int, request: TrialRequest, outcome: Outcome) -> TrialRecord:
        judgement = self._judge(outcome) if request.judged else None
        return TrialRecord.from_report(
            outcome.plan,
            outcome.report,
            number=number,
            phase=request.phase,
            load_pps=request.load_pps,
            lost={stream.stream: outcome.lost(stream.stream) for stream in outcome.plan.streams},
            attempt=request.attempt,
            verdict=judgement.verdict if judgement else "none",
            findings=judgement.findings if judgement else (),
            dut=_dut_records(outcome),
        )

    def _judge(self, outcome: Outcome) -> Judgement:
        return judge(outcome, self.session.experiment.criteria, self.session.experiment.tester)


def _dut_records(outcome: Outcome) -> tuple[DutPortRecord, ...] | None:
    """The DUT's counters over this trial alone."""
    if outcome.dut_before is None or outcome.dut_after is None:
        return None
    return tuple(
        _dut_record(before, after)
        for before, after in zip(outcome.dut_before, outcome.dut_after, strict=True)
    )


def _dut_record(before: DutPortCounters, after: DutPortCounters) -> DutPortRecord:
    return DutPortRecord(
        port=after.port,
        rx_frames=after.rx_frames - before.rx_frames,
        tx_frames=after.tx_frames - before.tx_frames,
        rx_missed=after.rx_missed - before.rx_missed,
        rx_errors=after.rx_errors - before.rx_errors,
        tx_errors=after.tx_errors - before.tx_errors,
        rx_no_mbuf=after.rx_no_mbuf - before.rx_no_mbuf,
    )
