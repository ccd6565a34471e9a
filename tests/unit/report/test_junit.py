"""The report for a CI system, read by junitparser."""

from dataclasses import replace
from xml.etree import ElementTree

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from plimsoll.analysis.comparison.gate import GateResult
from plimsoll.methods.load_line.page import run_page as load_line_page
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import as_junit
from plimsoll.report.junit import render_junit
from plimsoll.report.parts.run_head import load_head
from tests.worded.says import Says

GATES = (
    GateResult("fail if load_line < 1Mpps", "ok", "load line is 2.7 Mpps"),
    GateResult("fail if p99 > 1us", "fail", "p99 is 12 µs"),
    GateResult("fail if loss > 0", "unknown", "the run is stopped"),
    GateResult("fail if worse than base", "unknown", "too few runs", strict=False),
)


def suites(text: str) -> dict[str, TestSuite]:
    return {str(suite.name): suite for suite in JUnitXml.fromstring(text.encode())}


def kinds(suite: TestSuite) -> list[type | None]:
    return [type(case.result[0]) if case.result else None for case in cases(suite)]


def cases(suite: TestSuite) -> list[TestCase]:
    return list(suite)


def test_a_run_that_passed_has_no_failure_though_its_search_failed_trials(
    finished_run: RunDirectory,
    says: Says,
) -> None:
    found = suites(as_junit(finished_run, "pass"))
    assert list(found) == ["demo: answer", "demo: criteria", "demo: trials"]
    trials = found["demo: trials"]
    # Of the fourteen, four failed on the way and two were the tester's fault.
    assert (trials.tests, trials.skipped, trials.failures, trials.errors) == (14, 6, 0, 0)
    assert kinds(trials).count(Skipped) == 6
    # 3 + 3 + 3 + 1 + 5 + 2 + 5 + 5 + 2 + 5 + 17 + 5 + 5 + 60 s were sent.
    assert trials.time == 121
    (answer,) = cases(found["demo: answer"])
    assert (answer.name, answer.classname) == ("Load line", "demo.answer")
    assert str(answer.system_out) == says("2.742")


def test_in_a_run_that_failed_its_trials_count(finished_run: RunDirectory) -> None:
    found = suites(as_junit(finished_run, "fail", damage=("spikes.parquet: has 3 bytes",)))
    trials = found["demo: trials"]
    assert (trials.failures, trials.errors, trials.skipped) == (4, 2, 0)
    assert kinds(found["demo: answer"]) == [Failure, Error]


def test_each_gate_is_a_case(finished_run: RunDirectory) -> None:
    found = suites(as_junit(finished_run, "pass", GATES))["demo: gates"]
    assert kinds(found) == [None, Failure, Error, Skipped]
    assert (found.failures, found.errors, found.skipped) == (1, 1, 1)
    assert [case.name for case in cases(found)] == [gate.name for gate in GATES]


def test_what_xml_cannot_hold_is_written_out(finished_run: RunDirectory) -> None:
    hostile = 'a<b>&"\x00\x1b\ud800\ufffe]]>'
    head = replace(load_head(finished_run), name=hostile)
    gates = [GateResult(hostile, "fail", hostile)]
    text = render_junit(head, load_line_page(finished_run), "pass", {}, gates)
    root = ElementTree.fromstring(text.encode())  # noqa: S314
    assert root.get("name") == 'a<b>&"\\x00\\x1b\\ud800\\ufffe]]>'
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.text == 'a<b>&"\\x00\\x1b\\ud800\\ufffe]]>'
