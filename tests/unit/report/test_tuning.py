"""What a report tells of the hosts' tuning, from audits and rows written by hand."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.record.run.audit_record import AuditChange, AuditRecord
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.report import write_report
from plimsoll.report.charts import drawn_types
from plimsoll.report.data.run_data import RunData, load_run
from plimsoll.report.figures.table import CellValue, ReportTable
from plimsoll.report.tuning.section import HostTuning, tuning_section
from tests.unit.benchmark.audits import audit_of, finding
from tests.unit.methods.soak.soak_runs import soak_settings, soaked
from tests.unit.record.relisting import relist
from tests.unit.report.reader import Page
from tests.unit.report.rendering import rendered
from tests.unit.trial.host_record import (
    HOSTNAME,
    Series,
    interrupts,
    observed_host,
    rows_of,
    write_parquet,
)
from tests.worded.says import Says, passage

HOSTILE = "<script>alert('tuned')</script>"
DUT = "dut.lab"
AUDIT = audit_of(
    HOSTNAME,
    finding(21, "ok"),
    finding(26, "fail", text=HOSTILE),
    finding(32, "warn"),
    finding(33, "fail"),
    finding(34, "unknown"),
    finding(47, "unknown"),
)
OF_DUT = audit_of(DUT, finding(33, "ok"), finding(34, "ok"), finding(47, "unknown")).model_copy(
    update={"role": "observed", "source": f"ssh://root@{DUT}"}
)


@pytest.fixture(scope="module")
def audited(finished_run: RunDirectory, tmp_path_factory: pytest.TempPathFactory) -> RunData:
    """The finished run with two audited hosts during its last trial.

    The tester's CPU under test ticks, and its loop stalls for 0.3 ms; a network card
    interrupts the DUT's.
    """
    path = tmp_path_factory.mktemp("runs") / finished_run.run_id
    shutil.copytree(finished_run.path, path)
    run = RunDirectory(path)
    AUDIT.write(run.audit)
    run.observed_audits.mkdir()
    OF_DUT.write(run.observed_audits / "1.json")
    hosts = (observed_host(polled={"tester": "1"}), observed_host(DUT, polled={"dut": "1"}))
    environment = load_environment(run.environment)
    assert environment is not None
    environment.model_copy(update={"observed": hosts}).write(run.environment)
    add_host_series(run, interrupts(1, "LOC", "Local timer interrupts", [250] * 60))
    add_host_series(run, replace(interrupts(1, "31", "nic-rx", [40] * 60), hostname=DUT))
    data = load_run(run, drawn_types())
    assert data.focus is not None
    loop = data.focus.workers[0].model_copy(update={"worst_stall_ns": 300_000})
    return replace(data, focus=data.focus.model_copy(update={"workers": (loop,)}))


def add_host_series(run: RunDirectory, series: Series) -> None:
    """Record a host's series during the trial that the report shows."""
    trial = load_run(run, drawn_types()).focus
    assert trial is not None
    period, begin_ms = trial_period(trial.number), trial.begin_unix_ns // 10**6
    rows = list(rows_of(series, period, begin_ms))
    write_parquet(run.metrics / f"{period}@{series.hostname}.parquet", rows)
    relist(run)


def hosts_of(data: RunData) -> tuple[HostTuning, ...]:
    return tuning_section(data.audits, data.observed).hosts


def columns(table: ReportTable, *names: str) -> list[tuple[CellValue, ...]]:
    """Of each row the values of these columns."""
    return [tuple(row[name] for name in names) for row in table.records()]


def test_what_did_harm_comes_first_and_what_did_none_is_folded(
    audited: RunData, says: Says
) -> None:
    tester = hosts_of(audited)[0]
    assert columns(tester.seen, "check", "verdict_at_start", "verdict") == [
        # The tick and the stalls, which nothing at the start showed.
        (34, "unknown", "warn"),
        (47, "unknown", "warn"),
    ]
    # A failure that no counter can tell of; and no device interrupted, though it might have.
    assert columns(tester.settings, "check", "verdict") == [
        (26, "fail"),
        (32, "warn"),
        (33, "warn"),
    ]
    assert columns(tester.others, "check") == [(21,)]
    assert tester.counts == (("fail", 1), ("warn", 4), ("ok", 1))
    assert tester.against == says("6.12.0")


def test_a_failure_that_counters_confirm_stands_apart_from_one_of_a_setting_alone(
    audited: RunData,
    says: Says,
) -> None:
    ticks = audit_of(HOSTNAME, finding(1, "fail"), finding(3, "fail"))
    (host,) = hosts_of(replace(audited, audits=(ticks,)))
    assert columns(host.settings, "check") == [(1,)]
    ((check, happened),) = columns(host.seen, "check", "happened")
    assert check == 3
    assert happened == says("250")


def test_each_host_is_joined_with_what_happened_on_it(audited: RunData, says: Says) -> None:
    tester, dut = hosts_of(audited)
    assert [(each.host, each.role) for each in (tester, dut)] == [
        (HOSTNAME, "tester"),
        (DUT, "DUT"),
    ]
    assert columns(dut.seen, "check", "verdict") == [(33, "fail"), (34, "fail")]
    assert columns(dut.seen, "happened")[0][0] == says("31", "40")
    # The tester's loops stalled, and no one looked at the DUT's.
    assert columns(dut.others, "check", "happened") == [(47, None)]


def test_a_host_that_was_not_audited_is_reported_with_the_reason(
    audited: RunData, says: Says
) -> None:
    lost = AuditRecord.not_audited("observed", "ssh://root@far", None, "no route to host")
    data = replace(audited, audits=(AUDIT, lost))
    far = hosts_of(data)[1]
    assert (far.host, far.role, far.counts) == ("ssh://root@far", "observed", ())
    text = Page(rendered(data)).text
    assert passage(text, "ssh://root@far", "observed") == says("ssh://root@far", "observed")


def test_the_page_shows_both_halves_of_every_host(audited: RunData) -> None:
    text = Page(rendered(audited)).text
    tester, dut = text.index(f"{HOSTNAME} · tester"), text.index(f"{DUT} · DUT")
    assert text.index("1 fail · 4 warn · 1 ok") in range(tester, dut)
    assert text.index("a second, each kind on its worst CPU: LOC 250") in range(tester, dut)
    assert text.index("without an effect that was seen: 3") in range(tester, dut)
    assert text.index("no device interrupted a CPU under test") in range(tester, dut)
    assert text.index("do not apply: 1") in range(tester, dut)
    assert text.index("a second: 31 nic-rx 40") > dut
    assert "echo 1 > /proc/26" in text


def test_why_a_check_matters_is_reported_where_the_record_has_it(audited: RunData) -> None:
    why = "A tick takes the CPU away."
    explained = audit_of(HOSTNAME, finding(26, "fail", why=why))
    text = Page(rendered(replace(audited, audits=(explained,)))).text
    assert f"Why, what to do {why}" in text
    assert "What to do echo" in Page(rendered(audited)).text


def test_an_audit_that_passes_is_short(audited: RunData) -> None:
    quiet = audit_of(HOSTNAME, *(finding(number, "ok") for number in range(1, 12)))
    data = replace(audited, audits=(quiet,), hosts=None)
    page = rendered(data)
    text = Page(page).text
    assert "11 ok" in text
    assert "no counter of the CPUs under test failed a check during the run" in text
    tuning = page[page.index('<section id="tuning">') : page.index('<section id="trials">')]
    shown = tuning[: tuning.index('<details class="more">')]
    assert "Title of" not in shown
    assert tuning.count("Title of") == 11


def test_what_a_later_session_found_changed_is_reported(audited: RunData, says: Says) -> None:
    (ticks,) = (each for each in AUDIT.findings if each.number == 26)
    # 2026-11-22, 09:30:05 in UTC.
    change = AuditChange(time_ns=1_795_339_805 * 10**9, verdicts={ticks.name: ("fail", "ok")})
    changed = AUDIT.model_copy(update={"changes": (change,)})
    text = Page(rendered(replace(audited, audits=(changed,)))).text
    assert passage(text, "2026-11-22", "09:30", "26", str(ticks.name), "fail") == says(
        "2026-11-22", "09:30", "26", str(ticks.name), "fail"
    )
    assert "these verdicts had changed" not in Page(rendered(audited)).text


def test_what_a_host_says_is_text_and_nothing_else(audited: RunData) -> None:
    html = rendered(audited)
    assert HOSTILE not in html
    assert HOSTILE in Page(html).text


def test_a_run_without_an_audit_says_so(audited: RunData, says: Says) -> None:
    page = Page(rendered(replace(audited, audits=())))
    assert passage(page.words, "audited") == says()


def test_before_the_first_trial_the_settings_stand_alone(
    cut_short: Callable[[int], RunData],
) -> None:
    data = replace(cut_short(3), audits=(AUDIT,))
    (host,) = hosts_of(data)
    assert host.counts == (("fail", 2), ("warn", 1), ("unknown", 2), ("ok", 1))
    assert host.role == "tester"
    assert "in trial" not in Page(rendered(data)).text.partition("Tuning")[2].partition("Trials")[0]


def test_a_soaks_page_has_the_section_too(tmp_path: Path) -> None:
    run, _ = soaked(tmp_path, soak_settings())
    AUDIT.write(run.audit)
    page = Page(write_report(run).read_text())
    assert "Title of 33" in page.text
