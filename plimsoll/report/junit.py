"""A run's report as JUnit XML, which CI systems show: a test case for everything that was judged.

A failure is the DUT's, an error the tester's. Trials that a search let fail on its way to an
answer are how it finds one: they are skipped, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from plimsoll.analysis.comparison.gate import GateResult
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.report.parts.finding_lines import FindingLine
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.run_head import RunHead
from plimsoll.text.plain_text import plain_text

CaseKind = Literal["failure", "error", "skipped"]

_BY_OUTCOME: dict[str, CaseKind | None] = {
    "fail": "failure",
    "invalid": "error",
    "unfinished": "error",
    "unknown": "error",
}
_MAX_CHARACTERS = 2000
_COLUMNS = ("trial", "phase", "load_pps", "verdict", "reason")


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    kind: CaseKind | None
    message: str
    seconds: float = 0.0


def render_junit(
    head: RunHead,
    page: Page,
    verdict: Verdict,
    seconds: dict[int, float],
    gates: Sequence[GateResult] = (),
) -> str:
    """The XML, as the schema of Jenkins' xUnit plug-in has it.

    `verdict` is the run's; `seconds` is how long each finished trial sent, by its number.
    """
    headline = page.headline
    said = "\n".join((headline.in_words, *headline.warnings, *headline.limit, *headline.trust))
    # A CI system follows a test case by its name, which has no figure in it therefore.
    answer = _Case(headline.kicker, _of_run(verdict), said)
    suites = [
        ("answer", [answer, *(_Case(f"record: {each}", "error", each) for each in head.damage)]),
        ("gates", [_gate(each) for each in gates]),
        ("criteria", [_finding(each) for each in headline.criteria]),
        ("trials", [_trial(each, verdict, seconds) for each in _trials(page)]),
    ]
    root = ElementTree.Element("testsuites", name=_shown(head.name))
    for name, cases in suites:
        if cases:
            root.append(_suite(head, name, cases))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _of_run(verdict: Verdict) -> CaseKind | None:
    return "skipped" if verdict == "none" else _BY_OUTCOME.get(verdict)


def _gate(gate: GateResult) -> _Case:
    kind = _BY_OUTCOME.get(gate.outcome)
    return _Case(gate.name, kind if gate.strict or kind == "failure" else "skipped", gate.text)


def _finding(line: FindingLine) -> _Case:
    return _Case(f"{line.rule}: {line.subject}", _BY_OUTCOME.get(line.outcome), line.text)


def _trials(page: Page) -> Iterator[dict[str, str]]:
    """The columns of each, as text."""
    if page.trials is not None:
        for row in page.trials.words(*_COLUMNS)[1]:
            yield dict(zip(_COLUMNS, row, strict=True))


def _trial(trial: dict[str, str], verdict: Verdict, seconds: dict[int, float]) -> _Case:
    kind = _BY_OUTCOME.get(trial["verdict"])
    if kind is not None and verdict == "pass":
        kind = "skipped"
    judged = f"{trial['verdict']} at " if trial["verdict"] != "none" else ""
    why = trial["reason"]
    message = f"{judged}{trial['load_pps']}{': ' if why else ''}{why}"
    name = f"trial {trial['trial']}, {trial['phase']}"
    return _Case(name, kind, message, seconds.get(int(trial["trial"]), 0.0))


def _suite(head: RunHead, name: str, cases: Iterable[_Case]) -> ElementTree.Element:
    cases = list(cases)
    kinds = [case.kind for case in cases]
    suite = ElementTree.Element(
        "testsuite",
        name=_shown(f"{head.name}: {name}"),
        tests=str(len(cases)),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error")),
        skipped=str(kinds.count("skipped")),
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    if head.began is not None:
        suite.set("timestamp", f"{head.began:%Y-%m-%dT%H:%M:%S}")
    for case in cases:
        suite.append(_element(f"{head.name}.{name}", case))
    return suite


def _element(class_name: str, case: _Case) -> ElementTree.Element:
    element = ElementTree.Element(
        "testcase", classname=_shown(class_name), name=_shown(case.name), time=f"{case.seconds:.3f}"
    )
    if case.kind is None:
        if case.message:
            ElementTree.SubElement(element, "system-out").text = _lines(case.message)
        return element
    inner = ElementTree.SubElement(element, case.kind, message=_shown(case.message))
    if case.kind != "skipped":
        inner.set("type", "DUT" if case.kind == "failure" else "tester")
        inner.text = _lines(case.message)
    return element


def _shown(text: str) -> str:
    """On one line, without what XML cannot hold."""
    return plain_text(" ".join(text.split()), _MAX_CHARACTERS)


def _lines(text: str) -> str:
    return "\n".join(plain_text(line) for line in text.split("\n"))
