"""What is said of a load line, on its page and on the terminal: limits, goals, bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.record.results.method_result import InvalidReason, invalid_reasons
from plimsoll.record.results.result import GoalResult, Result
from plimsoll.record.trials.counter_record import CounterRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.table import (
    Cell,
    ReportColumn,
    ReportTable,
    count,
    pps,
    sentence,
    text,
)
from plimsoll.report.parts.finding_lines import check_lines, findings_table, rule_words
from plimsoll.report.parts.tester import (
    CalibrationSection,
    TesterSection,
    calibrations,
    tester_section,
)
from plimsoll.search.strategy.goal_end import LimitedBy
from plimsoll.text.units import format_duration, format_pps

# A load line is the DUT's capacity only where the DUT is what failed above it.
LIMIT_SENTENCES: dict[LimitedBy, str] = {
    "dut": "Limited by the DUT: it failed above this load.",
    "platform": "Limited by the platform: above this load the DUT failed for want of its CPU.",
    "tester": "Limited by the tester: it cannot test above this load. The DUT may carry more.",
    "maximum": "The highest load that was searched. The DUT may carry more.",
}


def goals_table(result: Result | None) -> ReportTable | None:
    """Every goal, where there are several: its load per direction, or why there is none."""
    if result is None or len(result.goals) < 2:
        return None
    columns = (
        text("goal", "Goal"),
        pps("load_pps", "Load per direction"),
        sentence("said", "Why not more"),
    )
    rows = tuple(
        (
            goal.name,
            Cell((None,), "none") if line is None else line.pps_per_direction,
            goal_said(goal),
        )
        for goal in result.goals
        for line in (goal.load_line,)
    )
    return ReportTable("goals", columns, rows, "Goals")


def diagnosed(result: Result) -> tuple[str, ...]:
    """Why there is no load line where the tester is the reason, and what to do."""
    if result.diagnosis is None:
        return ()
    reason = result.reason or "no trial could be tested"
    said = (f"The tester, not the DUT, is the reason: {reason}", *result.diagnosis.sentences)
    return (*(f"{each}." for each in said), f"What to do: {result.diagnosis.remedy}.")


def ceiling_said(result: Result | None) -> tuple[str, ...]:
    """What the tester could offer, where that is what limits the load line."""
    if result is None or result.ceiling is None or result.limited_by != "tester":
        return ()
    ceiling = result.ceiling
    return (
        f"On these ports the tester offered at most {format_pps(ceiling.offered_pps)} per "
        f"direction of {format_pps(ceiling.intended_pps)} (trial {ceiling.trial}).",
    )


def platform_said(result: Result | None) -> tuple[str, ...]:
    """What took the DUT's CPU, where that is what limits the load line."""
    return () if result is None or result.platform is None else (result.platform.sentence,)


def unwatched_said(result: Result | None) -> tuple[str, ...]:
    """Where absences of the DUT were not watched, and why."""
    return () if result is None else result.unwatched


def goal_said(goal: GoalResult) -> str:
    """Why a goal's load is not higher, or why there is none."""
    if goal.load_line is None:
        return goal.reason or ""
    said = [LIMIT_SENTENCES[goal.limited_by]] if goal.limited_by else []
    if goal.conditional_pps is not None:
        said.append(f"Conditional throughput (RFC 9971): {format_pps(goal.conditional_pps)}.")
    if goal.irregular:
        said.append("Irregular: a lower load failed.")
    return " ".join(said)


def events_bound(goal: GoalResult) -> tuple[str, ...]:
    """What a proof without loss says of the rate of events that lose frames."""
    if goal.loss_events_per_hour_below is None:
        return ()
    return (
        "No frame was lost: events that lose any are rarer than one in "
        f"{format_duration(3600 / goal.loss_events_per_hour_below)} (95 %, by 3/T).",
    )


@dataclass(frozen=True, slots=True)
class EvidenceSection:
    """What the section shows; tables without rows where there is nothing to show."""

    measured: int
    invalid: int
    invalid_reasons: ReportTable
    counters: ReportTable
    uncompared: str
    agreement: str
    tester: TesterSection
    calibrations: tuple[CalibrationSection, ...]
    checks: ReportTable


def evidence(data: RunData) -> EvidenceSection:
    """The evidence of a run so far."""
    judged = [trial for trial in data.trials if trial.verdict != "none"]
    return EvidenceSection(
        measured=len(judged),
        invalid=sum(trial.verdict == "invalid" for trial in judged),
        invalid_reasons=_reasons(invalid_reasons(data.trials)),
        counters=_counters(data.focus.judged_counters if data.focus else ()),
        uncompared=_uncompared(data.focus),
        agreement=_agreement(data),
        tester=tester_section(data),
        calibrations=calibrations(data),
        checks=findings_table(check_lines(data), "checks", "Check"),
    )


def _reasons(reasons: Sequence[InvalidReason]) -> ReportTable:
    columns = (
        count("trials", "Trials"),
        ReportColumn(("rule",), "Rule", rule_words, number=False, wraps=True),
        sentence("example", "For example"),
    )
    rows = tuple((each.trials, each.rule, each.example) for each in reasons)
    return ReportTable("invalid-trials", columns, rows, "Why trials were invalid")


def _counters(judged: Sequence[CounterRecord]) -> ReportTable:
    """What the trial was judged by; no rows where the DUT has no counters."""
    columns = (
        text("direction", "Direction"),
        count("tester_frames", "Tester"),
        count("dut_frames", "DUT"),
        count("difference_frames", "Difference"),
    )
    rows = tuple(
        (
            _direction(each),
            each.tester,
            each.dut,
            Cell((each.tester - each.dut,), mark="ok" if each.tester == each.dut else "fail"),
        )
        for each in judged
    )
    return ReportTable("counters", columns, rows, "Frames by the tester's count and by the DUT's")


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
