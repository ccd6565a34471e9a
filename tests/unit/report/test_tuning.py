"""What a report tells of the host's tuning, from an audit and rows written by hand."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.record.environment import load_environment
from plimsoll.record.metrics import trial_period
from plimsoll.record.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.report.run_data import RunData, load_run
from plimsoll.report.tuning.section import tuning_section
from tests.unit.benchmark.audits import audit_of, finding
from tests.unit.benchmark.soak_runs import asked, soaked
from tests.unit.report.reader import Page
from tests.unit.report.rendering import rendered
from tests.unit.trial.host_record import HOSTNAME, interrupts, observed_host, rows_of, write_parquet

HOSTILE = "<script>alert('tuned')</script>"
AUDIT = audit_of(
    HOSTNAME,
    finding(21, "ok"),
    finding(26, "fail", text=HOSTILE),
    finding(33, "fail"),
    finding(34, "unknown"),
)


@pytest.fixture(scope="module")
def audited(finished_run: RunDirectory, tmp_path_factory: pytest.TempPathFactory) -> RunData:
    """The finished run, audited, with one CPU under test that ticks beside its last trial."""
    path = tmp_path_factory.mktemp("runs") / finished_run.run_id
    shutil.copytree(finished_run.path, path)
    run = RunDirectory(path)
    AUDIT.write(run.audit)
    environment, trial = load_environment(run.environment), load_run(run).focus
    assert environment is not None
    assert trial is not None
    environment.model_copy(update={"observed": (observed_host(),)}).write(run.environment)
    period, begin_ms = trial_period(trial.number), trial.begin_unix_ns // 10**6
    tick = interrupts(1, "LOC", "Local timer interrupts", [250] * 60)
    write_parquet(
        run.metrics / f"{period}@{HOSTNAME}.parquet", list(rows_of(tick, period, begin_ms))
    )
    return load_run(run)


def test_failures_come_first_and_the_rest_is_folded(audited: RunData) -> None:
    section = tuning_section(audited.audit, audited.hosts, audited.focus)
    assert [(line.number, line.static, line.joint) for line in section.urgent] == [
        (26, "fail", "fail"),
        # No device interrupted, though it might have; the tick did.
        (33, "fail", "warn"),
        (34, "unknown", "warn"),
    ]
    assert [line.number for line in section.others] == [21]
    assert section.counts == (("fail", 1), ("warn", 2), ("ok", 1))
    assert section.against.endswith("judged by the intent declared that the experiment names.")


def test_the_page_shows_both_halves(audited: RunData) -> None:
    page = Page(rendered(audited))
    assert "1 fail 2 warn 1 ok" in page.text
    assert "on the worst CPU, a second: LOC 250" in page.text
    assert "no device interrupted a CPU under test" in page.text
    assert "do not apply: 1" in page.text
    assert "echo 1 > /proc/26" in page.text


def test_what_a_host_says_is_text_and_nothing_else(audited: RunData) -> None:
    html = rendered(audited)
    assert HOSTILE not in html
    assert HOSTILE in Page(html).text


def test_a_run_without_an_audit_says_so(audited: RunData) -> None:
    page = Page(rendered(replace(audited, audit=None)))
    assert "The host was not audited in this run." in page.text


def test_a_soaks_page_has_the_section_too(tmp_path: Path) -> None:
    run, _ = soaked(tmp_path, asked())
    AUDIT.write(run.audit)
    page = Page(write_report(run).read_text())
    assert "Title of 33" in page.text
