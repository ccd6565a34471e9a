import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.ledger import trace_instance
from plimsoll.host.ledger.ledger import Ledger, ledgers, sweep
from plimsoll.host.ledger.record import from_json, to_json
from plimsoll.host.ledger.shared_directory import ledger_uses
from plimsoll.host.processes.identity import ProcessIdentity, identify
from tests.worded.says import Says


def abandon(ledger: Ledger) -> None:
    """Make the ledger that of a process that has ended."""
    dead = replace(ledger.record, owner=ProcessIdentity(os.getpid(), 1))
    (ledger.directory / "ledger.json").write_text(to_json(dead))


def test_a_new_ledger_is_private_owned_and_listed(state: Path) -> None:
    ledger = Ledger.create("test")
    assert ledger.directory.parent == state
    assert ledger.directory.stat().st_mode & 0o777 == 0o700
    assert ledger.record.owner == identify(os.getpid())
    assert [found.id for found in ledgers()] == [ledger.id]


def test_what_is_noted_is_on_disk(state: Path) -> None:
    ledger = Ledger.create("test")
    process = ProcessIdentity(2**22, 5)
    ledger.note_process("thing", process)
    ledger.note_facts({"a": 1})
    ledger.note_facts({"b": [2]})
    ledger.note_path(Path("/proc/nonexistent/file"))
    document = json.loads((ledger.directory / "ledger.json").read_text())
    assert document["processes"] == [
        {"name": "thing", "identity": {"pid": 2**22, "start_ticks": 5}}
    ]
    assert document["facts"] == {"a": 1, "b": [2]}
    assert document["paths"] == ["/proc/nonexistent/file"]
    assert from_json(to_json(ledger.record)) == ledger.record


def test_undo_kills_removes_and_says_so_once(state: Path, tmp_path: Path, says: Says) -> None:
    ledger = Ledger.create("test")
    outside = tmp_path / "socket"
    outside.write_text("")
    ledger.note_path(outside)
    with subprocess.Popen(["sleep", "600"]) as process:
        ledger.note_process("sleeper", identify(process.pid))
        done = ledger.undo()
    assert done == [says("sleeper", str(process.pid)), f"removed {ledger.directory}"]
    assert process.returncode == -9
    assert not outside.exists()
    assert ledger.undo() == []
    assert list(state.iterdir()) == []


def test_undo_removes_a_folder_that_was_noted(state: Path, tmp_path: Path) -> None:
    ledger = Ledger.create("test")
    folder = tmp_path / "made"
    ledger.note_path(folder)
    ledger.note_path(folder)
    assert ledger.record.paths == (str(folder),)
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "file").write_text("")
    link, kept = tmp_path / "link", tmp_path / "kept"
    kept.mkdir()
    link.symlink_to(kept)
    ledger.note_path(link)
    ledger.undo()
    assert list(tmp_path.iterdir()) == [kept]


def test_processes_that_have_ended_are_forgotten(state: Path) -> None:
    ledger = Ledger.create("test")
    ledger.note_process("ended", ProcessIdentity(2**22, 5))
    ledger.note_process("this one", identify(os.getpid()))
    assert [each.name for each in ledger.record.processes] == ["this one"]


def test_undo_finds_a_process_that_was_never_noted(state: Path, says: Says) -> None:
    ledger = Ledger.create("test")
    with subprocess.Popen(["sleep", "600"], env=ledger.environment) as process:
        done = ledger.undo()
    assert done[0] == says(str(process.pid))


def test_sweep_leaves_living_and_standing_ledgers_alone(state: Path) -> None:
    living = Ledger.create("living")
    standing = Ledger.create("standing")
    standing.hand_over()
    assert sweep() == []
    assert {ledger.id for ledger in ledgers()} == {living.id, standing.id}


def test_sweep_undoes_what_a_dead_owner_left(state: Path) -> None:
    living, dead = Ledger.create("living"), Ledger.create("dead")
    abandon(dead)
    assert sweep() == [f"removed {dead.directory}"]
    assert [ledger.id for ledger in ledgers()] == [living.id]


def test_a_ledger_of_another_boot_kills_nothing(state: Path, says: Says) -> None:
    ledger = Ledger.create("old")
    with subprocess.Popen(["sleep", "600"]) as process:
        ledger.note_process("namesake", identify(process.pid))
        old = replace(ledger.record, boot_id="another")
        (ledger.directory / "ledger.json").write_text(to_json(old))
        assert sweep() == [says(str(ledger.id))]
        assert process.poll() is None
        process.kill()
    assert ledger_uses() == ()


def test_sweep_removes_only_half_made_ledgers_of_the_dead(state: Path) -> None:
    me = identify(os.getpid())
    mine = state / f".new-{me.pid}-{me.start_ticks}-abc"
    orphan = state / f".new-{me.pid}-{me.start_ticks - 1}-abc"
    mine.mkdir()
    orphan.mkdir()
    assert sweep() == [f"removed {orphan}, which was never finished"]
    assert list(state.iterdir()) == [mine]


@pytest.mark.parametrize("name", [".new-a-b-c", ".new-1", ".new--1-2-x", ".new-9999999999999-1-c"])
def test_sweep_leaves_alone_what_no_ledger_would_be_called(name: str, state: Path) -> None:
    (state / name).mkdir()
    assert sweep() == []
    assert [path.name for path in state.iterdir()] == [name]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"kind": 1}', "[" * 100000])
def test_a_damaged_ledger_is_said_and_left_alone(content: str, state: Path, says: Says) -> None:
    damaged, dead = Ledger.create("a-damaged"), Ledger.create("dead")
    abandon(dead)
    (damaged.directory / "ledger.json").write_text(content)
    with pytest.raises(MachineError) as caught:
        _ = damaged.record
    assert caught.value == says("ledger.json")
    said, removed = sweep()
    assert str(damaged.directory) in said
    assert removed == f"removed {dead.directory}"


def test_a_state_directory_too_long_for_sockets_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setenv("PLIMSOLL_STATE", str(tmp_path / ("x" * 70)))
    with pytest.raises(MachineError) as caught:
        Ledger.create("test")
    assert caught.value == says("PLIMSOLL_STATE")


@pytest.mark.parametrize("odd", [",", " ", ":", "[", '"', "=", "\n"])
def test_a_state_directory_that_a_program_would_misread_is_refused(
    state: Path, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    monkeypatch.setenv("PLIMSOLL_STATE", str(state / f"a{odd}b"))
    with pytest.raises(MachineError, match=r"would not read a path with .*PLIMSOLL_STATE"):
        Ledger.create("test")


def test_a_full_disk_is_named_with_place_and_remedy(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.create("test")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(MachineError, match=rf"{ledger.id}: .*No space left.*PLIMSOLL_STATE"):
        ledger.note_facts({"a": 1})
    monkeypatch.undo()
    monkeypatch.setenv("PLIMSOLL_STATE", str(state))
    assert ledger.record.facts == {}


@pytest.fixture
def tracefs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(trace_instance, "find_tracefs", lambda: tmp_path)
    return tmp_path


def test_undo_of_trace_instances_that_were_never_made_says_nothing(
    state: Path, tracefs: Path
) -> None:
    ledger = Ledger.create("test")
    ledger.note_trace_instance("plimsoll-1")
    ledger.note_trace_instance("plimsoll-2")
    assert from_json(to_json(ledger.record)) == ledger.record
    assert len(ledger.record.trace_instances) == 2
    assert ledger.undo() == [f"removed {ledger.directory}"]


@pytest.mark.parametrize("name", ["somebody", "plimsoll-1/../somebody"])
def test_a_ledger_that_names_anything_else_as_a_trace_instance_removes_nothing(
    state: Path, tracefs: Path, name: str, says: Says
) -> None:
    ledger = Ledger.create("test")
    (tracefs / "instances" / "somebody").mkdir(parents=True)
    ledger.note_trace_instance(name)
    assert ledger.undo()[0] == says("[Errno", "22]")
    assert (tracefs / "instances" / "somebody").is_dir()


def test_ledgers_from_before_trace_instances_are_read(state: Path) -> None:
    ledger = Ledger.create("test")
    document = json.loads(to_json(ledger.record))
    del document["trace_instances"]
    assert from_json(json.dumps(document)) == ledger.record


def test_a_module_of_ours_removes_what_lies_elsewhere(state: Path, says: Says) -> None:
    ledger = Ledger.create("churn")
    ledger.note_undoing_module("plimsoll.version")
    assert ledger.record.undoing_modules == (("plimsoll.version",),)
    assert ledger.undo() == says("plimsoll.version")
    assert not ledger.directory.exists()


def test_a_module_that_cannot_remove_it_leaves_the_ledger_for_another_time(
    state: Path, says: Says
) -> None:
    ledger = Ledger.create("churn")
    # Without its arguments it ends with an error.
    ledger.note_undoing_module("plimsoll.churn.api.removal")
    done = ledger.undo()
    assert done[-1] == says("plimsoll.churn.api.removal", "ValueError", "4")
    assert ledger.directory.exists()


def test_ledgers_from_before_undoing_modules_are_read(state: Path) -> None:
    record = json.loads(to_json(Ledger.create("lab").record))
    del record["undoing_modules"]
    assert from_json(json.dumps(record)).undoing_modules == ()
