"""Why to believe the answer: spoiled trials, both sides' counters, the tester's own noise."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.record.calibration import TesterCalibration
from plimsoll.record.result import InvalidReason, invalid_reasons
from plimsoll.record.trial_record import TrialRecord
from plimsoll.report.finding_lines import FindingLine, check_lines
from plimsoll.report.run_data import RunData
from plimsoll.traffic.units import format_ns, format_pps, format_ratio


@dataclass(frozen=True, slots=True)
class CounterLine:
    """One way over one port: frames by the engine's count and by the DUT's."""

    way: str
    engine: int
    dut: int

    @property
    def difference(self) -> int:
        """Engine's minus DUT's."""
        return self.engine - self.dut


@dataclass(frozen=True, slots=True)
class StallLine:
    """One polling loop of the tester in the focus trial."""

    cpu: int
    stalls: int
    worst: str
    share: str


@dataclass(frozen=True, slots=True)
class CalibrationLine:
    """One point of the tester's calibration, in words."""

    name: str
    load: str
    sent: str
    least: str
    median: str
    p99_9: str
    greatest: str
    worst_stall: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the section shows; empty tuples where there is nothing to show."""

    measured: int
    invalid: int
    invalid_reasons: tuple[InvalidReason, ...]
    counters: tuple[CounterLine, ...]
    agreement: str
    stalls: tuple[StallLine, ...]
    stall_sentence: str
    calibration_how: str
    calibration: tuple[CalibrationLine, ...]
    checks: tuple[FindingLine, ...]


def evidence(data: RunData) -> Evidence:
    """The evidence of a run so far."""
    judged = [trial for trial in data.trials if trial.verdict != "none"]
    calibration = _calibration(data)
    return Evidence(
        measured=len(judged),
        invalid=sum(trial.verdict == "invalid" for trial in judged),
        invalid_reasons=invalid_reasons(data.trials),
        counters=_counters(data.focus) if data.focus else (),
        agreement=_agreement(data),
        stalls=_stalls(data.focus) if data.focus else (),
        stall_sentence=_stall_sentence(data.focus) if data.focus else "",
        calibration_how=calibration.how if calibration else "",
        calibration=_calibration_lines(calibration) if calibration else (),
        checks=check_lines(data),
    )


def _counters(trial: TrialRecord) -> tuple[CounterLine, ...]:
    """What came to and went from each port of the DUT; nothing where it has no counters."""
    lines: list[CounterLine] = []
    for dut in trial.dut or ():
        sent = sum(s.sent for s in trial.streams if s.tx_port == dut.port)
        came = _came_in(trial, dut.port)
        lines.append(CounterLine(f"tester → DUT, port {dut.port}", sent, dut.rx_frames))
        lines.append(CounterLine(f"DUT → tester, port {dut.port}", came, dut.tx_frames))
    return tuple(lines)


def _came_in(trial: TrialRecord, port: int) -> int:
    """Every frame that reached the tester's port, be it of the trial, whole or read, or not."""
    of_trial = sum(
        s.received + s.corrupt + s.misdirected for s in trial.streams if s.rx_port == port
    )
    return of_trial + sum(
        p.foreign + p.stale + p.rx_missed + p.rx_errors for p in trial.ports if p.port == port
    )


def _agreement(data: RunData) -> str:
    agreement = data.result.dut_agreement if data.result else None
    if agreement is None:
        return ""
    told = f"{agreement.trials_agreeing} of {agreement.trials_compared} trials agree to the frame."
    return " ".join((told, *agreement.differences))


def _stalls(trial: TrialRecord) -> tuple[StallLine, ...]:
    return tuple(
        StallLine(
            cpu=worker.cpu,
            stalls=worker.stalls,
            worst=format_ns(worker.worst_stall_ns),
            share=format_ratio(worker.stalled_ns / 1e9 / trial.sending_s),
        )
        for worker in trial.workers
        if trial.sending_s > 0
    )


def _stall_sentence(trial: TrialRecord) -> str:
    apart = sum(stream.samples_across_stalls for stream in trial.streams)
    total = apart + sum(stream.latency.count for stream in trial.streams)
    if not total:
        return ""
    share = format_ratio(apart / total)
    return f"{apart:,} of {total:,} latency samples ({share}) were taken across a stall."


def _calibration(data: RunData) -> TesterCalibration | None:
    if data.environment is not None and data.environment.calibration is not None:
        return data.environment.calibration
    return data.result.calibration if data.result else None


def _calibration_lines(calibration: TesterCalibration) -> tuple[CalibrationLine, ...]:
    return tuple(
        CalibrationLine(
            name=point.name,
            load=format_pps(point.load_pps),
            sent=format_pps(point.sent_pps),
            least=nanoseconds(point.latency.min_ns),
            median=nanoseconds(point.latency.p50_ns),
            p99_9=nanoseconds(point.latency.p99_9_ns),
            greatest=nanoseconds(point.latency.max_ns),
            worst_stall=format_ns(point.worst_stall_ns),
        )
        for point in calibration.points
    )


def nanoseconds(value: float | None) -> str:
    """A time for people; a dash where there is none."""
    return "-" if value is None else format_ns(value)
