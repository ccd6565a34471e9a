"""The audit that a run keeps: real, of the machine that the test runs on."""

import json
from pathlib import Path

import pytest

from plimsoll.benchmark import host_audit
from plimsoll.benchmark.host_audit import derived_intent, write_host_audit
from plimsoll.errors import MachineError
from plimsoll.host.cpus import online_cpus
from plimsoll.record.audit_record import load_audit
from plimsoll.record.record_error import RecordError
from plimsoll.tune.host.captured_host import CapturedHost
from plimsoll.tune.host.live_host import LiveHost
from plimsoll.tune.intent.load import load_preset
from plimsoll.tune.intent.survey import Survey
from plimsoll.tune.intent.topology import Topology

UNISOLATED = CapturedHost(files={"/proc/cmdline": "quiet", "/sys/devices/system/cpu/online": "0-3"})


def four_cpus() -> Survey:
    cpus = frozenset(range(4))
    return Survey(
        topology=Topology(
            online=cpus,
            siblings={cpu: frozenset({cpu}) for cpu in cpus},
            nodes={0: cpus},
            memory_kb={0: 8 << 20},
        ),
        ports=(),
        page_sizes=frozenset({"2M"}),
        virtual=True,
    )


def test_every_check_is_recorded(tmp_path: Path) -> None:
    path, notes = tmp_path / "audit.json", list[str]()
    write_host_audit(path, load_preset("vm"), frozenset({1}), notes.append)
    assert notes == []
    audit = load_audit(path)
    assert audit is not None
    assert audit.intent == "vm"
    assert audit.assumed == ""
    numbers = [finding.number for finding in audit.findings]
    assert numbers == sorted(set(numbers))
    assert {7, 21, 33, 43, 47} <= set(numbers)
    assert path.stat().st_size < 200_000


def test_whatever_goes_wrong_is_told_and_costs_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> LiveHost:
        raise ZeroDivisionError("a file that nobody foresaw")

    monkeypatch.setattr(host_audit, "LiveHost", broken)
    notes = list[str]()
    write_host_audit(tmp_path / "audit.json", None, frozenset(), notes.append)
    assert notes == ["The host was not audited: a file that nobody foresaw"]
    notes.clear()
    monkeypatch.undo()
    nowhere = tmp_path / "missing" / "audit.json"
    write_host_audit(nowhere, load_preset("vm"), frozenset(), notes.append)
    assert len(notes) == 1


def test_the_cpus_under_test_are_isolated_where_others_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host_audit, "survey_host", four_cpus)
    intent, told = derived_intent(UNISOLATED, frozenset({2, 3}))
    assert intent is not None
    assert (intent.cpus.isolated.text, intent.cpus.reserved.text) == ("2-3", "0-1")
    assert intent.hugepages is None
    assert "preset vm, CPUs 2-3 isolated and 0-1 reserved" in told


def test_all_cpus_under_test_leave_the_proposals_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_audit, "survey_host", four_cpus)
    intent, _ = derived_intent(UNISOLATED, frozenset(range(4)))
    assert intent is not None
    # The first core is for the system.
    assert (intent.cpus.isolated.text, intent.cpus.reserved.text) == ("1-3", "0")


def test_the_kernels_command_line_comes_first() -> None:
    isolated = CapturedHost(
        files={
            "/proc/cmdline": "isolcpus=2-3 nohz_full=2-3",
            "/sys/devices/system/cpu/online": "0-3",
            "/proc/cpuinfo": "flags : tsc",
        }
    )
    intent, told = derived_intent(isolated, frozenset({1}))
    assert intent is not None
    assert intent.cpus.isolated.text == "2-3"
    assert "command line" in told


def test_a_host_of_one_core_is_audited_without_an_intent(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Survey:
        raise MachineError("one core", where="cpus")

    monkeypatch.setattr(host_audit, "survey_host", refuse)
    intent, told = derived_intent(UNISOLATED, online_cpus())
    assert intent is None
    assert "none can be proposed: cpus: one core" in told


def test_a_damaged_record_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    assert load_audit(path) is None
    path.write_text(json.dumps({"host": 1}))
    with pytest.raises(RecordError, match=r"audit\.json"):
        load_audit(path)
