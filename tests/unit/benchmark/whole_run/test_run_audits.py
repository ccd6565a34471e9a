"""The audits that a run keeps: this machine's own, and of hosts that ssh's stand-in captures."""

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from plimsoll.benchmark.testbed import host_captures
from plimsoll.benchmark.testbed.host_captures import start_captures
from plimsoll.benchmark.whole_run import run_audits
from plimsoll.benchmark.whole_run.run_audits import record_audits
from plimsoll.observe.agent.settings import ObserveSettings
from plimsoll.record.run.audit_record import AuditRecord, read_audits
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.tune.host.capture.open_capture import open_root
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.captures.systems import SYSTEMS
from tests.unit.tune.host.ssh_stand_in import CAPTURES, SshStandIn
from tests.worded.says import Says

TUNED = next(system for system in SYSTEMS if system.name == "tuned")


@dataclass
class Run:
    """A run with hosts to be observed, as far as its audits go."""

    directory: RunDirectory
    hosts: tuple[Mapping[str, Any], ...]
    enabled: bool = True
    notes: list[str] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    def session(self, *names: str) -> tuple[AuditRecord, ...]:
        """One session, in which the agents gave these names; what the run then keeps."""
        observe = ObserveSettings.model_validate({"enabled": self.enabled, "hosts": self.hosts})
        session = SimpleNamespace(
            experiment=SimpleNamespace(tuning=load_preset("vm")),
            recorder=SimpleNamespace(run=self.directory, event=self._event, wrote=lambda _: None),
            listener=SimpleNamespace(note=self.notes.append),
        )
        ledger = SimpleNamespace(environment=os.environ, directory=self.directory.path.parent)
        with closing(start_captures(observe, (), cast(Any, ledger))) as captures:
            records = [SimpleNamespace(hostname=name) for name in names]
            bed = SimpleNamespace(
                busy_cpus=(0,), observers=SimpleNamespace(records=records), captures=captures
            )
            record_audits(cast(Any, session), cast(Any, bed))
        return read_audits(self.directory)

    def _event(self, kind: str, **fields: Any) -> None:
        self.events.append({"kind": kind, **fields})


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SshStandIn:
    """This host is the capture of one on which nothing was tuned."""
    found = SshStandIn(tmp_path, monkeypatch)
    here(monkeypatch, "untuned")
    return found


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "audited", {})


def here(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(run_audits, "LiveHost", lambda: open_root(CAPTURES / f"{system}.tar.gz"))


def verdict(audit: AuditRecord, name: str) -> str:
    return next(each.verdict for each in audit.findings if each.name == name)


def test_each_host_is_audited_by_its_own_intent(ssh: SshStandIn, directory: RunDirectory) -> None:
    """The DUT is tuned as declared; of another host its kernel says what it is for."""
    ssh.answers(dut="tuned", peer="mistaken")
    intent = TUNED.declared().model_dump(mode="json", exclude_unset=True)
    run = Run(directory, ({"ssh": "dut", "tuning": intent}, {"ssh": "peer", "polled_cpus": [3]}))
    tester, dut, peer = run.session("tester-1", "dut-7", "peer-2")
    assert (tester.role, dut.role, peer.role) == ("tester", "observed", "observed")
    assert (dut.source, peer.source) == ("ssh://dut", "ssh://peer")
    # The name by which the metrics know a host, whatever it calls itself elsewhere.
    assert (tester.host, dut.host, peer.host) == ("tester-1", "dut-7", "peer-2")
    assert (tester.intent, dut.intent, peer.intent) == ("vm", "one-node", "assumed")
    assert (tester.under_test, dut.under_test, peer.under_test) == ("0", "1-3", "3")
    # By the systems' own tables: nohz_full is on all isolated CPUs of one, on one of the other.
    assert verdict(dut, "nohz-full") == "ok"
    assert verdict(peer, "nohz-full") == "fail"
    assert run.notes == []
    assert {path.name for path in directory.observed_audits.iterdir()} == {"1.json", "2.json"}


def test_a_host_that_cannot_be_audited_says_why_and_costs_no_run(
    ssh: SshStandIn, directory: RunDirectory, says: Says
) -> None:
    ssh.answers(peer="tuned")
    run = Run(directory, ({"ssh": "root@gone"}, {"ssh": "peer"}))
    tester, gone, peer = run.session("tester-1", "root@gone", "peer-2")
    assert gone.unread == says("ssh", "root@gone")
    assert (gone.role, gone.host, gone.source) == ("observed", "root@gone", "ssh://root@gone")
    assert gone.findings == ()
    assert not peer.unread
    assert not tester.unread
    (note,) = run.notes
    assert note == says("root@gone", "observe.hosts", "ssh")


def test_this_host_too(
    ssh: SshStandIn, directory: RunDirectory, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    def broken() -> LiveHost:
        raise ZeroDivisionError("a file that nobody foresaw")

    monkeypatch.setattr(run_audits, "LiveHost", broken)
    ssh.answers(dut="tuned")
    run = Run(directory, ({"ssh": "dut"},))
    tester, dut = run.session("tester-1", "dut-7")
    assert tester.role == "tester"
    assert tester.unread == says()
    assert dut.findings
    assert run.notes == [says()]


def test_one_that_never_answers_keeps_a_run_only_for_so_long(
    ssh: SshStandIn, directory: RunDirectory, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(host_captures, "_MAX_S", 0.5)
    ssh.does("exec sleep 1000")
    _, silent = Run(directory, ({"ssh": "dut"},)).session("tester-1", "dut")
    assert silent.unread == says("ssh", "0.5")


def test_a_record_that_cannot_be_written_is_reported(
    ssh: SshStandIn, directory: RunDirectory
) -> None:
    ssh.answers(dut="tuned")
    directory.observed_audits.write_text("in the way")
    run = Run(directory, ({"ssh": "dut"},))
    (tester,) = run.session("tester-1", "dut-7")
    assert tester.role == "tester"
    assert run.notes[-1].startswith("The audit of dut was not recorded: ")
    assert "audits/1.json" in run.notes[-1]


def test_hosts_that_are_not_observed_are_left_alone(
    ssh: SshStandIn, directory: RunDirectory
) -> None:
    (tester,) = Run(directory, ({"ssh": "dut"},), enabled=False).session()
    assert tester.role == "tester"
    assert ssh.requested == []


def test_a_session_that_goes_on_keeps_what_the_first_found(
    ssh: SshStandIn, directory: RunDirectory, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    """The DUT has lost its settings since, and this host is as it was."""
    run = Run(directory, ({"ssh": "dut", "tuning": TUNED.declared().model_dump(mode="json")},))
    ssh.answers(dut="tuned")
    first = run.session("tester-1", "dut-7")
    ssh.answers(dut="untuned")
    tester, dut = run.session("tester-1", "dut-7")
    assert tester == first[0]
    assert dut.findings == first[1].findings
    (change,) = dut.changes
    assert change.verdicts["nohz-full"] == ("ok", "fail")
    (event,) = run.events
    assert (event["kind"], event["host"]) == ("tuning-changed", "dut-7")
    assert event["verdicts"]["nohz-full"] == ("ok", "fail")
    (note,) = run.notes
    assert note == says("dut")
    assert "nohz-full ok → fail" in note


def test_a_third_session_tells_only_what_changed_since_the_second(
    ssh: SshStandIn, directory: RunDirectory
) -> None:
    run = Run(directory, ({"ssh": "dut", "tuning": TUNED.declared().model_dump(mode="json")},))
    for system in ("tuned", "untuned", "untuned", "tuned"):
        ssh.answers(dut=system)
        _, dut = run.session("tester-1", "dut-7")
    assert [change.verdicts["nohz-full"] for change in dut.changes] == [
        ("ok", "fail"),
        ("fail", "ok"),
    ]
    assert len(run.notes) == 2


def test_what_was_not_audited_then_is_audited_now(ssh: SshStandIn, directory: RunDirectory) -> None:
    """And what was, is not lost because its host is away."""
    run = Run(directory, ({"ssh": "dut"}, {"ssh": "peer"}))
    ssh.answers(dut="tuned")
    tester, dut, away = run.session("tester-1", "dut-7", "peer")
    assert away.unread
    ssh.answers(peer="tuned")
    again = run.session("tester-1", "dut", "peer-2")
    assert again[:2] == (tester, dut)
    assert (again[2].host, again[2].unread) == ("peer-2", "")
    assert run.events == []


def test_an_audit_that_is_damaged_is_made_anew(
    ssh: SshStandIn, directory: RunDirectory, says: Says
) -> None:
    run = Run(directory, ())
    directory.audit.write_text('{"host": 1}')
    (tester,) = run.session("tester-1")
    assert tester.host == "tester-1"
    (note,) = run.notes
    assert "audit.json" in note
    assert note == says("host")
