"""Why to believe the answer: spoiled trials, counters, hosts, the tester's own noise."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.record.results.result import InvalidReason, invalid_reasons
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.parts.calibrations import CalibrationTable, calibration_tables
from plimsoll.report.parts.finding_lines import FindingLine, check_lines
from plimsoll.report.parts.tester import TesterSection, tester_section


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
class EvidenceSection:
    """What the section shows; empty tuples where there is nothing to show."""

    measured: int
    invalid: int
    invalid_reasons: tuple[InvalidReason, ...]
    counters: tuple[CounterLine, ...]
    agreement: str
    tester: TesterSection
    calibrations: tuple[CalibrationTable, ...]
    checks: tuple[FindingLine, ...]


def evidence(data: RunData) -> EvidenceSection:
    """The evidence of a run so far."""
    judged = [trial for trial in data.trials if trial.verdict != "none"]
    return EvidenceSection(
        measured=len(judged),
        invalid=sum(trial.verdict == "invalid" for trial in judged),
        invalid_reasons=invalid_reasons(data.trials),
        counters=_counters(data.focus) if data.focus else (),
        agreement=_agreement(data),
        tester=tester_section(data),
        calibrations=calibration_tables(data),
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
    text = f"{agreement.trials_agreeing} of {agreement.trials_compared} trials agree to the frame."
    return " ".join((text, *agreement.differences))
