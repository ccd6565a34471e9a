"""The audits of a run whose DUT is another host: real ssh, sshd, testpmd and observers."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.record.run.audit_record import AuditRecord, read_audits
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.data.one_host import observed_host_figures
from plimsoll.report.tuning.tuning_during_run import joined
from tests.integration.command import (
    Workplace,
    assert_keeps_to_schema,
    assert_nothing_is_left,
    finished_trials,
    hugepages,
    journal,
    kill_when,
    until,
    workplace,
)
from tests.integration.remote_dut import RemoteDut
from tests.integration.unspoilt import unspoilt

TUNED = "ro isolcpus=managed_irq,domain,1 nohz_full=1"
INTENT = """\
name: of-the-dut
platform: vm
cpus: {reserved: "0", isolated: "1", balance_isolated: off}
"""


@pytest.fixture
def dut(tmp_path: Path) -> RemoteDut:
    folder = tmp_path / "dut"
    folder.mkdir()
    made = RemoteDut(folder)
    made.boots_with(TUNED)
    return made


@pytest.fixture
def place(tmp_path: Path, dut: RemoteDut) -> Iterator[Workplace]:
    with workplace(tmp_path) as made:
        made.environment["PATH"] = f"{dut.path}:{made.environment['PATH']}"
        (tmp_path / "dut.yaml").write_text(INTENT)
        yield made


def experiment(place: Workplace, *hosts: dict[str, Any]) -> Path:
    return place.experiment(observe={"hosts": list(hosts)})


def _searched(run: Path) -> bool:
    return any(trial["phase"] == "search" for trial in finished_trials(run))


def verdicts(audit: AuditRecord) -> dict[str, str]:
    return {each.name: each.verdict for each in audit.findings}


def test_every_host_is_audited_and_has_what_happened_on_it(place: Workplace) -> None:
    before = hugepages()
    plan = experiment(
        place, {"ssh": "dut", "polled_cpus": [1], "tuning": "dut.yaml"}, {"ssh": "gone"}
    )
    done = place.run("trial", plan, "--load", "5kpps", "--duration", "3s", "--runs", place.runs)
    assert done.returncode in (0, 1, 5), done.stderr
    assert_nothing_is_left(place, before)
    run = RunDirectory(place.only_run())
    for path in (run.audit, *run.observed_audits.iterdir()):
        assert_keeps_to_schema(json.loads(path.read_text()), "audit")
    tester, dut, gone = read_audits(run)
    assert (tester.role, tester.host) == ("tester", os.uname().nodename)
    assert (dut.role, dut.host, dut.source) == ("observed", "dut", "ssh://dut")
    assert (dut.intent, dut.assumed, dut.under_test) == ("of-the-dut", "", "1")
    assert verdicts(dut)["isolcpus"] == "ok"
    assert verdicts(tester)["isolcpus"] != "ok"
    assert (gone.host, gone.findings) == ("gone", ())
    assert gone.unread.startswith("cannot be read over ssh: ")
    assert f"gone was not audited: observe.hosts: gone: {gone.unread}" in done.stderr
    environment = load_environment(run.environment)
    assert environment is not None
    assert [each.hostname for each in environment.observed] == [tester.host, "dut", "gone"]
    (trial,) = read_journal(run.journal).trials()
    lines = joined(dut, observed_host_figures(run, environment, trial), trial)
    happened = {line.static.number: line.happened for line in lines}
    # The machine's own timer ticks on the CPU that testpmd polls on.
    assert happened[34] is not None
    assert "LOC" in happened[34].text
    # Whose loops stall is the tester.
    assert happened[47] is None


@pytest.mark.full
def test_a_run_that_goes_on_keeps_its_audits(place: Workplace, dut: RemoteDut) -> None:
    """The DUT was booted anew in between, without its settings."""
    words = ("run", experiment(place, {"ssh": "dut"}))
    kill_when(place, words, _searched, "a search trial")
    run = RunDirectory(place.only_run())
    first = read_audits(run)
    assert [audit.host for audit in first] == [os.uname().nodename, "dut"]
    assert first[1].intent == "assumed"
    dut.boots_with("ro quiet")
    resumed = unspoilt(place, "run", "--resume", run.path, "--json")
    assert resumed.returncode == 0, resumed.stderr
    tester, changed_dut = read_audits(run)
    assert tester.findings == first[0].findings
    assert changed_dut.findings == first[1].findings
    assert changed_dut.last_verdicts["isolcpus"] != "ok"
    (changed,) = [event for event in journal(run.path) if event["kind"] == "tuning-changed"]
    assert changed["host"] == "dut"
    assert changed["verdicts"]["isolcpus"][0] == "ok"
    assert "dut is no longer as this run's last session found it: " in resumed.stderr


def test_killed_while_captures_come_nothing_is_left(place: Workplace, dut: RemoteDut) -> None:
    dut.program("plimsoll", "exec sleep 1000")
    temporary = place.folder / "temporary"
    temporary.mkdir()
    place.environment["TMPDIR"] = str(temporary)
    before = hugepages()
    process = place.start("run", experiment(place, {"ssh": "dut"}), "--runs", place.runs)
    until(lambda: bool(place.processes("ssh")), "ssh to run")
    process.kill()
    process.communicate()
    assert_nothing_is_left(place, before)
    assert list(temporary.iterdir()) == []
