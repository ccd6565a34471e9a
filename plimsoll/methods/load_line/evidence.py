"""Why to believe the answer: spoiled trials, counters, hosts, the tester's own noise."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.record.results.method_result import InvalidReason, invalid_reasons
from plimsoll.record.trials.counter_record import CounterRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.parts.calibrations import CalibrationTable, calibration_tables
from plimsoll.report.parts.finding_lines import FindingLine, check_lines
from plimsoll.report.parts.tester import TesterSection, tester_section


@dataclass(frozen=True, slots=True)
class CounterLine:
    """One direction over one port, or all: frames by the engine's count and by the DUT's."""

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
    uncompared: str
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
        uncompared=_uncompared(data.focus),
        agreement=_agreement(data),
        tester=tester_section(data),
        calibrations=calibration_tables(data),
        checks=check_lines(data),
    )


def _counters(trial: TrialRecord) -> tuple[CounterLine, ...]:
    """What the trial was judged by; nothing where the DUT has no counters."""
    return tuple(
        CounterLine(_direction(each), each.tester, each.dut) for each in trial.judged_counters
    )


def _direction(of: CounterRecord) -> str:
    port = "all ports" if of.port is None else f"port {of.port}"
    return f"tester → DUT, {port}" if of.direction == "into" else f"DUT → tester, {port}"


def _uncompared(trial: TrialRecord | None) -> str:
    """Why there is nothing to compare."""
    if trial is None or trial.dut is None:
        return "This DUT has no counters to compare with."
    return (
        "This trial's record has the DUT's counters, but not the sums that are held against them: "
        "it was not judged by them, and they cannot be recomputed."
    )


def _agreement(data: RunData) -> str:
    agreement = data.result.dut_agreement if data.result else None
    if agreement is None:
        return ""
    text = f"{agreement.trials_agreeing} of {agreement.trials_compared} trials agree to the frame."
    return " ".join((text, *agreement.differences))
