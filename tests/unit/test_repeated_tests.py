"""The table of `make test-repeated`: minutes by part, and names of what failed."""

from pathlib import Path

import pytest

from benchmarks.tests.repeated import COLUMNS, append, minutes_by_part, outcome_of

REPORT = """<testsuites><testsuite>
<testcase classname="tests.unit.test_a" name="test_one"/>
<testcase classname="tests.unit.test_a" name="test_two[x]"><failure message="m"/></testcase>
<testcase classname="tests.unit.test_b" name="test_three"><skipped message="no root"/></testcase>
<testcase classname="tests.unit.test_b" name="test_four"><error message="m"/></testcase>
<testcase classname="tests.unit.test_b" name="test_five"/>
</testsuite></testsuites>"""


def test_a_part_lasts_from_its_first_beginning_to_its_last_end() -> None:
    lines = ["set-up 100.0 160.0", "build 150.0 210.0", "build 90.0 120.0", "unit 300.0 390.0"]
    minutes = minutes_by_part(lines)
    assert minutes == pytest.approx(
        {"set-up": 1.0, "build": 2.0, "linters": 0.0, "unit": 1.5, "integration": 0.0}
    )


def test_reports_say_what_passed_and_name_what_did_not(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    report.write_text(REPORT)
    outcome = outcome_of([report])
    assert (outcome.passed, outcome.skipped) == (2, 1)
    assert outcome.failed == ("tests.unit.test_a::test_two[x]", "tests.unit.test_b::test_four")


def test_rows_are_added_to_one_table(tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    for minutes in ("11.5", "12.0"):
        append(table, {**dict.fromkeys(COLUMNS, ""), "minutes": minutes, "failed": "a b"})
    header, first, second = table.read_text().splitlines()
    assert header.split(",") == list(COLUMNS)
    assert (first.split(",")[4], second.split(",")[4]) == ("11.5", "12.0")
