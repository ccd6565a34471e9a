"""Findings in words: the experiment's criteria apart from the checks of the tester itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.table import (
    Cell,
    ReportColumn,
    ReportTable,
    Row,
    filed,
    sentence,
    text,
    verdict_cell,
)
from plimsoll.text.units import (
    format_duration,
    format_ns,
    format_number,
    format_pps,
    format_ratio,
)

_SEVERITY = {"ok": 0, "invalid": 1, "fail": 2}
_WORDS = {
    "loss-ratio": "Frame loss ratio",
    "pdv": "Packet delay variation",
    "corrupt": "Corrupt frames",
    "duplicate": "Duplicate frames",
    "misdirected": "Misdirected frames",
    "out-of-order": "Reordered frames",
    "rx-stability": "Stability of the received rate",
    "segment-loss": "Loss in a segment of the trial",
    "spread-of-latency": "Repeatability of latency",
    "spread-of-rate": "Repeatability of the rate",
    "steal": "CPU time stolen by the hypervisor",
    "throttled": "CPU throttling by quota",
    "dut-interrupts": "Interrupts on the DUT's CPUs",
    "major-faults": "Major page faults",
    "busy": "CPU utilisation",
    "host-metric": "Host metric",
    "absent-frames": "Frames not sent while a loop was stalled",
    "dut-on-tester-cpu": "Loops of the DUT on the tester's CPUs",
    "dut-received": "Frames that the DUT did not receive",
    "dut-counters": "DUT port counters",
    "hops": "Frames at each hop inside the DUT",
    "returned-length": "Length of the frames that came back",
    "upcalls": "Packets sent to the switch's slow path",
    "failed-upcalls": "Packets that the switch's slow path gave up",
    "flowtable": "Frames by the path they took through the router",
    "conntrack-full": "Packets that connection tracking had no room for",
    "late-probes": "Probes sent late",
    "link": "Link state",
    "negative-loss": "More frames received than offered",
    "no-buffer": "Frames not sent for want of a buffer",
    "offered-rate": "Offered against intended load",
    "own-share": "CPU time of Plimsoll's other processes",
    "runtime": "Trial duration",
    "stale-frames": "Frames of an earlier trial",
    "stall": "Longest stall of a polling loop",
    "stalled-share": "Time that polling loops were stalled",
    "tester-losses": "Losses during stalls of the tester",
    "truncated-frames": "Frames that came back cut short",
    "late-frames": "Frames that left the DUT after the drain",
    "unread-frames": "Frames the tester's ports dropped",
    "windows": "Windows of the trial",
}
# The rule is what it is about, after the kind: latency-p99, pdv-p99.9.
_QUANTIFIED = {"latency": "Latency", "pdv": "Packet delay variation"}


@dataclass(frozen=True, slots=True)
class FindingLine:
    """One rule on one subject: what was measured, the limit, and whether it holds.

    `name` is the rule's in records; `value` and `bound` are in `unit`.
    """

    name: str
    subject: str
    value: float | None
    bound: float | None
    unit: str
    outcome: str
    text: str

    @property
    def rule(self) -> str:
        """In words."""
        return rule_words(self.name)

    @property
    def measured(self) -> str:
        """For people."""
        return format_measure(self.value, self.unit)

    @property
    def limit(self) -> str:
        """For people."""
        return format_measure(self.bound, self.unit)


def findings_table(
    lines: Sequence[FindingLine], name: str, heading: str = "Finding"
) -> ReportTable:
    """A row for each; what it says in a sentence is a page's tip."""
    columns = (
        ReportColumn(("rule",), heading, rule_words, number=False, wraps=True),
        sentence("subject", "Of"),
        ReportColumn(("measured",), "Measured"),
        ReportColumn(("limit",), "Limit"),
        filed("unit"),
        text("outcome", "Outcome"),
        filed("text"),
    )
    rows = tuple(
        Row(
            (
                line.name,
                line.subject,
                Cell((line.value,), line.measured),
                Cell((line.bound,), line.limit),
                line.unit,
                verdict_cell(line.outcome),
                line.text,
            ),
            tip=line.text,
        )
        for line in lines
    )
    return ReportTable(name, columns, rows, heading)


def criterion_lines(data: RunData) -> tuple[FindingLine, ...]:
    """The focus trial by the experiment's criteria; by every rule where none are recorded."""
    return _lines(finding for finding in _findings(data) if _of_criteria(finding, data))


def criteria_in_short(data: RunData) -> tuple[FindingLine, ...]:
    """The same with one line a rule, for the subject that came off worst by it."""
    return in_short(finding for finding in _findings(data) if _of_criteria(finding, data))


def in_short(findings: Iterable[FindingRecord]) -> tuple[FindingLine, ...]:
    """One line a rule; its subject says of how many it is the worst."""
    by_rule: dict[str, list[FindingRecord]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    return tuple(_worst_line(of_rule) for of_rule in by_rule.values())


def finding_lines(findings: Iterable[FindingRecord]) -> tuple[FindingLine, ...]:
    """A line for each of these."""
    return _lines(findings)


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
    number = f"{value:,.0f}" if float(value).is_integer() else format_number(value)
    return f"{number} {unit}".strip()


def _findings(data: RunData) -> tuple[FindingRecord, ...]:
    return data.focus.findings if data.focus else ()


def _of_criteria(finding: FindingRecord, data: RunData) -> bool:
    return not data.criteria_kinds or finding.is_of(data.criteria_kinds)


def _worst_line(findings: Sequence[FindingRecord]) -> FindingLine:
    """Of those with the worst outcome the greatest value: criteria say what is allowed at most."""
    worst = max(findings, key=lambda each: (_SEVERITY[each.outcome], each.value or 0.0))
    (line,) = _lines([worst])
    if len(findings) == 1:
        return line
    none = worst.outcome == "ok" and not any(each.value for each in findings)
    many = f"each of {len(findings)}" if none else f"{line.subject}, worst of {len(findings)}"
    return replace(line, subject=many)


def _lines(findings: Iterable[FindingRecord]) -> tuple[FindingLine, ...]:
    return tuple(
        FindingLine(
            name=finding.rule,
            subject=finding.subject,
            value=finding.value,
            bound=finding.limit,
            unit=finding.unit,
            outcome=finding.outcome,
            text=finding.text,
        )
        for finding in findings
    )


# Rules of findings in words, as a page names them; the record keeps their short names.
def rule_words(rule: str) -> str:
    """ "Frame loss ratio" for loss-ratio, "Latency p99" for latency-p99.

    Rules of other versions are named as they are, without their hyphens.
    """
    if rule in _WORDS:
        return _WORDS[rule]
    kind, _, quantile = rule.partition("-")
    if kind in _QUANTIFIED and quantile:
        return f"{_QUANTIFIED[kind]}, {quantile}"
    return rule.replace("-", " ").capitalize()
