"""Findings in words: the experiment's criteria apart from the checks of the tester itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.record.trials.trial_record import FindingRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.text.units import (
    format_duration,
    format_ns,
    format_number,
    format_pps,
    format_ratio,
)


@dataclass(frozen=True, slots=True)
class FindingLine:
    """One rule on one subject: what was measured, the limit, and whether it holds."""

    rule: str
    subject: str
    measured: str
    limit: str
    outcome: str
    text: str


def criterion_lines(data: RunData) -> tuple[FindingLine, ...]:
    """The focus trial by the experiment's criteria; by every rule where none are recorded."""
    return _lines(finding for finding in _findings(data) if _of_criteria(finding, data))


def check_lines(data: RunData) -> tuple[FindingLine, ...]:
    """The checks of the tester in the focus trial."""
    return _lines(finding for finding in _findings(data) if not _of_criteria(finding, data))


def format_measure(value: float | None, unit: str) -> str:
    """A finding's value or limit in its unit, as people write it; a dash when there is none."""
    if value is None:
        return "-"
    formats = {"ns": format_ns, "pps": format_pps, "ratio": format_ratio, "s": format_duration}
    if unit in formats:
        return formats[unit](value)
    number = f"{value:,.0f}" if float(value).is_integer() else format_number(value, 6)
    return f"{number} {unit}".strip()


def _findings(data: RunData) -> tuple[FindingRecord, ...]:
    return data.focus.findings if data.focus else ()


def _of_criteria(finding: FindingRecord, data: RunData) -> bool:
    return not data.criteria_kinds or finding.is_of(data.criteria_kinds)


def _lines(findings: Iterable[FindingRecord]) -> tuple[FindingLine, ...]:
    return tuple(
        FindingLine(
            rule=finding.rule,
            subject=finding.subject,
            measured=format_measure(finding.value, finding.unit),
            limit=format_measure(finding.limit, finding.unit),
            outcome=finding.outcome,
            text=finding.text,
        )
        for finding in findings
    )
