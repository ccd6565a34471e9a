"""`plimsoll report`: forms, gates and exit codes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from tests.unit.cli.runs_command import Plimsoll
from tests.unit.record.index.run_dirs import RESULT, make_run, make_stopped
from tests.unit.report.sample_run import STEPS, write_sample_run
from tests.worded.says import Says, passage

ROOT = Path("runs")


def load_line(pps: float) -> dict[str, Any]:
    return {**RESULT, "load_line": {**RESULT["load_line"], "pps_per_direction": pps}}


def repetitions(name: str, loads_pps: Sequence[float]) -> None:
    for number, pps in enumerate(loads_pps):
        make_run(ROOT, f"{name}-{number}", result=load_line(pps))


def no_load_line(verdict: str) -> dict[str, Any]:
    validation = {**RESULT["validation"], "verdict": verdict}
    counted = {"total": 1, "by_verdict": {verdict: 1}, "by_phase": {}}
    return {**RESULT, "load_line": None, "validation": validation, "trials": counted}


def test_page_charts_and_tables_are_made_and_listed(plimsoll: Plimsoll) -> None:
    run = write_sample_run(ROOT)
    assert plimsoll("report", "last") == 0
    listed = [Path(line) for line in plimsoll.out.splitlines()]
    assert listed[0] == run.report
    assert {path.suffix for path in listed} == {".html", ".svg", ".png", ".csv"}
    assert all(path.is_file() for path in listed)
    assert plimsoll("report", "last", "--no-charts", "--no-tables") == 0
    assert plimsoll.out.split() == [str(run.report)]


def test_markdown_goes_to_standard_output_or_a_file(plimsoll: Plimsoll, says: Says) -> None:
    write_sample_run(ROOT)
    assert plimsoll("report", "last", "--format", "markdown") == 0
    assert passage(plimsoll.out, "Load", "2.742", "Mpps") == says()
    said = plimsoll.out
    assert plimsoll("report", "last", "--format", "markdown", "-o", "report.md") == 0
    assert Path("report.md").read_text() == said
    assert plimsoll("report", "last", "--format", "markdown", "-o", "report.md") == 2
    assert "exists already" in plimsoll.err
    assert plimsoll("report", "last", "--format", "markdown", "-o", "report.md", "--force") == 0


def test_a_page_has_its_own_place(plimsoll: Plimsoll, says: Says) -> None:
    write_sample_run(ROOT)
    assert plimsoll("report", "last", "-o", "page.html") == 2
    assert plimsoll.err == says("--format")


def test_a_gate_that_fails_ends_with_1_and_is_in_the_junit_file(
    plimsoll: Plimsoll, says: Says
) -> None:
    write_sample_run(ROOT)
    gates = ("--fail-if", "load_line < 1.5Mpps", "--fail-if", "load_line < 2.75Mpps")
    assert plimsoll("report", "last", "--format", "junit", *gates, "-o", "x.xml") == 1
    assert plimsoll.err == says("load_line", "2.75Mpps", "2.742", "Mpps")
    found = {str(suite.name): suite for suite in JUnitXml.fromfile("x.xml")}["demo: gates"]
    assert (found.tests, found.failures, found.errors) == (2, 1, 0)


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("load_line < 2.7Mpps", 0),
        ("load_line < 2.8Mpps", 1),
        ("p99 > 10s", 0),
        ("p99.9 > 1us", 1),
        ("loss > 50%", 0),
    ],
)
def test_the_limit_decides(plimsoll: Plimsoll, condition: str, code: int) -> None:
    write_sample_run(ROOT)
    assert plimsoll("report", "last", "--format", "markdown", "--fail-if", condition) == code


@pytest.mark.parametrize(("sign", "code"), [("<", 0), ("<=", 1), (">", 0), (">=", 1)])
def test_the_limit_itself_is_on_the_side_that_the_sign_says(
    plimsoll: Plimsoll, sign: str, code: int
) -> None:
    make_run(ROOT)
    gate = ("--format", "markdown", "--fail-if", f"load_line {sign} 3025000pps")
    assert plimsoll("report", "last", *gate) == code


@pytest.mark.parametrize(
    ("condition", "facts"),
    [
        ("load_lime < 1Mpps", ("load_line",)),
        ("p99 > 50", ("p99 > 50", "--fail-if")),
        ("p99 ? 50us", ("p99 ? 50us", "p99.9 > 50us", "--fail-if")),
        ("load_line < 95% of baseline", ("--baseline",)),
    ],
)
def test_a_mistake_is_named_with_its_place(
    plimsoll: Plimsoll, condition: str, facts: tuple[str, ...], says: Says
) -> None:
    write_sample_run(ROOT)
    assert plimsoll("report", "last", "--format", "markdown", "--fail-if", condition) == 2
    assert plimsoll.err == says(*facts)
    assert plimsoll.out == ""


def test_without_an_answer_the_dut_fails_and_the_tester_cannot_tell(
    plimsoll: Plimsoll, says: Says
) -> None:
    make_run(ROOT, "none", result=no_load_line("fail"))
    make_run(ROOT, "spoiled", result=no_load_line("invalid"))
    make_stopped(ROOT, "cut")
    gate = ("--format", "markdown", "--fail-if", "load_line < 1Mpps")
    assert plimsoll("report", "none", *gate) == 1
    assert plimsoll("report", "spoiled", *gate) == 5
    assert plimsoll("report", "cut", *gate) == 5
    assert plimsoll.err == says("load_line", "1Mpps")


def test_a_run_cut_short_has_a_report(plimsoll: Plimsoll) -> None:
    write_sample_run(ROOT, steps=STEPS[:5], finished=False)
    assert plimsoll("report", "last", "--format", "junit") == 0
    (suite,) = [s for s in JUnitXml.fromstring(plimsoll.out.encode()) if s.name == "demo: answer"]
    assert suite.skipped == 1


def test_a_share_of_the_baseline_is_of_its_median(plimsoll: Plimsoll, says: Says) -> None:
    repetitions("old", [3.0e6, 3.2e6, 3.1e6])
    repetitions("new", [2.9e6])
    gate = ("--format", "markdown", "--baseline", "old-*", "--fail-if")
    # 95 % of 3.1 Mpps are 2.945 Mpps.
    assert plimsoll("report", "new-0", *gate, "load_line < 95% of baseline") == 1
    assert plimsoll.err == says("2.945", "0.95", "baseline", "3.1")
    assert plimsoll("report", "new-0", *gate, "load_line < 93% of baseline") == 0


def test_worse_than_the_baseline_is_by_the_rules_of_compare(plimsoll: Plimsoll) -> None:
    # One run is below all of 39 by chance once in forty: what compare needs for 95 %.
    repetitions("old", [3.0e6 + number for number in range(39)])
    repetitions("new", [2.9e6])
    gate = ("--format", "markdown", "--baseline", "old-*")
    assert plimsoll("report", "new-0", *gate) == 1
    assert "worse" in plimsoll.err
    assert plimsoll("report", "old-0", *gate) == 0


def test_a_baseline_of_too_few_runs_cannot_tell_and_passes(plimsoll: Plimsoll, says: Says) -> None:
    repetitions("old", [3.0e6])
    repetitions("new", [2.9e6])
    assert plimsoll("report", "new-0", "--format", "markdown", "--baseline", "old-0") == 0
    assert plimsoll.err == says("6")
    assert plimsoll("report", "old-0", "--format", "markdown", "--baseline", "old-0") == 2
