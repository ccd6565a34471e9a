"""The state of a run, and what becomes of it when its files are damaged."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.index.run_summary import checked_text
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.run_lock import locked
from tests.unit.record.index.run_dirs import (
    EXPERIMENT,
    NOON_NS,
    RESULT,
    SIMULATED,
    finished,
    lines,
    make_matrix,
    make_run,
    make_stopped,
    nobody,
    open_folder,
    single_trial,
    started,
)
from tests.worded.says import Says

ROOT = Path(__file__).resolve().parents[4]
HOLDER = """
import sys
from pathlib import Path
from plimsoll.record.run.run_lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    input()
"""


def look(path: Path) -> RunEntry:
    return entry_of(path.name, path)


def test_a_finished_search(tmp_path: Path) -> None:
    entry = look(make_run(tmp_path))
    assert (entry.state, entry.run_id, entry.damage) == ("finished", "20260314T120005-demo", ())
    summary = entry.summary
    assert summary is not None
    assert (summary.method, summary.name) == ("load-line", "demo")
    assert (summary.dut, summary.model) == ("testpmd-memif", None)
    assert (summary.began_unix_ns, summary.ended_unix_ns) == (NOON_NS, NOON_NS + 60 * 10**9)
    assert summary.answer is not None
    assert summary.answer.text == "3.025 Mpps per direction"
    assert (summary.verdict, summary.period, summary.trials) == ("pass", "trial-0007", 0)
    assert summary.versions == {"plimsoll": "0.1.0", "engine": None}


def test_a_run_that_was_killed_can_go_on(tmp_path: Path) -> None:
    entry = look(make_stopped(tmp_path, experiment=SIMULATED))
    assert entry.state == "stopped"
    summary = entry.summary
    assert summary is not None
    assert (summary.answer, summary.verdict, summary.ended_unix_ns) == (None, "none", None)
    assert (summary.dut, summary.model) == ("simulated", "rare-stalls")


def test_a_run_that_was_killed_before_its_first_event(tmp_path: Path) -> None:
    entry = look(make_stopped(tmp_path, events=[]))
    assert entry.state == "stopped"
    assert entry.summary is not None
    assert (entry.summary.method, entry.summary.trials) == (None, 0)
    # 2026-03-14T12:00:05Z, from the id.
    assert entry.began_unix_ns == NOON_NS


def test_a_single_trial_is_over_with_its_trial(tmp_path: Path, says: Says) -> None:
    events = [started("trial"), single_trial("fail")]
    entry = look(make_run(tmp_path, events=events, result=None))
    assert entry.state == "finished"
    assert entry.summary is not None
    assert entry.summary.answer is not None
    assert entry.summary.answer.text == says("500", "fail")
    assert (entry.summary.verdict, entry.summary.period) == ("fail", "trial-0001")
    stopped = make_run(tmp_path, "20260314T120006-x", events=events[:1], result=None)
    assert look(stopped).state == "stopped"


def test_a_matrix_has_the_dut_of_its_first_iteration(tmp_path: Path) -> None:
    entry = look(make_matrix(tmp_path))
    assert entry.summary is not None
    assert (entry.summary.method, entry.summary.dut) == ("matrix", "testpmd-memif")


def test_a_method_that_this_version_does_not_know_is_listed(tmp_path: Path) -> None:
    entry = look(make_run(tmp_path, events=[started("telepathy"), finished()], result={"a": 1}))
    assert entry.state == "finished"
    assert entry.summary is not None
    assert (entry.summary.method, entry.summary.answer) == ("telepathy", None)


def test_versions_are_those_of_the_environment_where_there_is_one(tmp_path: Path) -> None:
    path = make_run(tmp_path)
    (path / "environment.json").write_text('{"versions": {"dpdk": "22.11", "odd": 5}}')
    entry = look(path)
    assert entry.summary is not None
    assert entry.summary.versions == {"dpdk": "22.11"}


def test_a_run_is_running_while_a_live_process_holds_its_lock(tmp_path: Path) -> None:
    path = make_stopped(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert look(path).state == "running"
        holder.kill()
    assert look(path).state == "stopped"


def test_a_result_of_a_run_that_is_going_on_again_does_not_make_it_finished(
    tmp_path: Path,
) -> None:
    path = make_run(tmp_path)
    with locked(path / "lock"):
        assert look(path).state == "running"


def test_a_summary_is_kept_and_used_while_its_sources_are_the_same(tmp_path: Path) -> None:
    path = make_run(tmp_path)
    look(path)
    kept = json.loads((path / "summary.json").read_text())
    del kept["crc32"]
    (path / "summary.json").write_text(checked_text({**kept, "name": "from the summary"}))
    entry = look(path)
    assert entry.summary is not None
    assert entry.summary.name == "from the summary"


@pytest.mark.parametrize("part", ["experiment.yaml", "journal.jsonl", "result.json"])
def test_a_summary_does_not_hold_when_a_source_has_changed(tmp_path: Path, part: str) -> None:
    path = make_run(tmp_path)
    look(path)
    kept = json.loads((path / "summary.json").read_text())
    del kept["crc32"]
    (path / "summary.json").write_text(checked_text({**kept, "name": "from the summary"}))
    os.utime(path / part, ns=(1, 1))
    entry = look(path)
    assert entry.summary is not None
    assert entry.summary.name == "demo"


def test_a_summary_of_a_run_without_a_result_does_not_hide_one(tmp_path: Path) -> None:
    path = make_stopped(tmp_path)
    assert look(path).state == "stopped"
    with (path / "journal.jsonl").open("a") as journal:
        journal.write(lines({**finished(), "result": RESULT, "events_before": 1}))
    (path / "result.json").write_text(json.dumps(RESULT))
    assert look(path).state == "finished"


RESULT_DAMAGE: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "an edited figure": (
        lambda run: _edit(run / "result.json", "3025000.0", "9025000.0"),
        (),
    ),
    "a result that is gone": (
        lambda run: (run / "result.json").unlink(),
        (),
    ),
    "a journal without its end": (
        lambda run: _keep_lines(run / "journal.jsonl", slice(0, 1)),
        ("journal",),
    ),
    "a journal that lost a line": (
        lambda run: _keep_lines(run / "journal.jsonl", slice(1, 2)),
        ("journal", "1"),
    ),
}


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _keep_lines(path: Path, kept: slice) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[kept]))


@pytest.mark.parametrize(("damage", "facts"), RESULT_DAMAGE.values(), ids=RESULT_DAMAGE)
@pytest.mark.parametrize("known", [False, True], ids=["first seen", "seen before"])
def test_a_result_and_a_journal_that_disagree_are_damage(
    tmp_path: Path,
    says: Says,
    *,
    damage: Callable[[Path], object],
    facts: tuple[str, ...],
    known: bool,
) -> None:
    path = make_run(tmp_path)
    if known:
        assert look(path).state == "finished"
    damage(path)
    entry = look(path)
    assert (entry.state, entry.summary) == ("damaged", None)
    (problem,) = entry.damage
    assert problem.where == str(path / "result.json")
    assert problem == says(*facts)


def test_a_result_that_is_written_otherwise_and_says_the_same_is_none(tmp_path: Path) -> None:
    path = make_run(tmp_path)
    (path / "result.json").write_text(json.dumps(RESULT, indent=4, sort_keys=True))
    assert look(path).state == "finished"


def test_a_figure_edited_in_the_summary_is_not_shown(tmp_path: Path) -> None:
    path = make_run(tmp_path)
    before = look(path).summary
    _edit(path / "summary.json", "3025000.0", "9025000.0")
    assert look(path).summary == before


def test_the_journal_of_a_running_run_is_not_read_again_and_again(tmp_path: Path) -> None:
    path = make_stopped(tmp_path)
    look(path)
    with (path / "journal.jsonl").open("a") as journal:
        journal.write("this is no event\nnor is this\n")
    with locked(path / "lock"):
        assert look(path).state == "running"
    assert look(path).state == "damaged"


def test_a_summary_is_not_needed_and_need_not_be_writable() -> None:
    with open_folder() as root:
        path = make_run(root)
        with nobody():
            assert look(path).state == "finished"


SUMMARY_DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_text(""),
    "binary": lambda path: path.write_bytes(bytes(range(256))),
    "truncated": lambda path: os.truncate(path, 50),
    "another type": lambda path: path.write_text("[1, 2]"),
    "another format": lambda path: path.write_text('{"format": 2}'),
    "deep": lambda path: path.write_text("[" * 100_000),
    "not a number": lambda path: path.write_text(path.read_text().replace("3025000.0", "Infinity")),
    "a time out of range": lambda path: path.write_text(
        path.read_text().replace(f'"began_unix_ns": {NOON_NS}', f'"began_unix_ns": {2**70}')
    ),
    "a huge number": lambda path: path.write_text('{"format": ' + "9" * 5000 + "}"),
    "a directory": lambda path: (path.unlink(), path.mkdir()),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "a loop": lambda path: (path.unlink(), path.symlink_to(path.name)),
    "a device": lambda path: (path.unlink(), path.symlink_to("/dev/zero")),
    "huge": lambda path: os.truncate(path, 2**40),
}


@pytest.mark.parametrize("damage", SUMMARY_DAMAGE.values(), ids=SUMMARY_DAMAGE.keys())
def test_a_damaged_summary_is_made_anew(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    path = make_run(tmp_path)
    before = look(path).summary
    damage(path / "summary.json")
    entry = look(path)
    assert (entry.state, entry.summary, entry.damage) == ("finished", before, ())


# Each with the facts of the message.
SOURCE_DAMAGE: dict[str, tuple[str, Callable[[Path], object], tuple[str, ...]]] = {
    **{
        f"{name}: {kind}": (name, damage, ())
        for name in ("experiment.yaml", "journal.jsonl", "result.json")
        for kind, damage in (
            ("directory", lambda path: (path.unlink(), path.mkdir())),
            ("pipe", lambda path: (path.unlink(), os.mkfifo(path))),
            ("device", lambda p: (p.unlink(), p.symlink_to("/dev/zero"))),
            ("loop", lambda p: (p.unlink(), p.symlink_to(p.name))),
        )
    },
    "experiment.yaml: gone": ("experiment.yaml", os.unlink, ("experiment.yaml",)),
    "experiment.yaml: empty": ("experiment.yaml", lambda p: p.write_text(""), ()),
    "experiment.yaml: cut": ("experiment.yaml", lambda p: p.write_text("name: [a"), ()),
    "experiment.yaml: binary": ("experiment.yaml", lambda p: p.write_bytes(b"\0\xff"), ()),
    "experiment.yaml: a list": ("experiment.yaml", lambda p: p.write_text("[]"), ()),
    "experiment.yaml: deep": ("experiment.yaml", lambda p: p.write_text("[" * 9999), ()),
    "experiment.yaml: code": (
        "experiment.yaml",
        lambda p: p.write_text("!!python/object/apply:os.getpid []"),
        (),
    ),
    "journal.jsonl: gone": ("journal.jsonl", os.unlink, ("journal.jsonl",)),
    "journal.jsonl: binary": (
        "journal.jsonl",
        lambda p: p.write_bytes(b"\0\xff\n\0\n"),
        ("1",),
    ),
    "journal.jsonl: a line amid": (
        "journal.jsonl",
        lambda p: p.write_text(p.read_text().replace("\n", "\n{\n", 1)),
        ("2",),
    ),
    "journal.jsonl: deep": (
        "journal.jsonl",
        lambda p: p.write_text("[" * 100_000 + "\n" + p.read_text()),
        ("1",),
    ),
    "journal.jsonl: before all time": (
        "journal.jsonl",
        lambda p: p.write_text(lines({"kind": "a", "at_unix_ns": -1}) + p.read_text()),
        ("1",),
    ),
    "journal.jsonl: after all time": (
        "journal.jsonl",
        lambda p: p.write_text(lines({"kind": "a", "at_unix_ns": 10**30}) + p.read_text()),
        ("1",),
    ),
    "journal.jsonl: a load beyond all": (
        "journal.jsonl",
        lambda p: p.write_text(lines(single_trial(load_pps=float("inf"))) + p.read_text()),
        ("1",),
    ),
    "journal.jsonl: a trial without verdict": (
        "journal.jsonl",
        lambda p: p.write_text(lines(single_trial("fine")) + p.read_text()),
        ("1",),
    ),
    "result.json: no number": (
        "result.json",
        lambda p: p.write_text(p.read_text().replace("3025000.0", "Infinity", 1)),
        (),
    ),
    "result.json: empty": ("result.json", lambda p: p.write_text(""), ()),
    "result.json: cut": ("result.json", lambda p: os.truncate(p, 100), ()),
    "result.json: binary": ("result.json", lambda p: p.write_bytes(b"\0\xff"), ()),
    "result.json: of another version": ("result.json", lambda p: p.write_text("{}"), ("run_id",)),
}


@pytest.mark.parametrize(("part", "damage", "facts"), SOURCE_DAMAGE.values(), ids=SOURCE_DAMAGE)
@pytest.mark.parametrize("known", [False, True], ids=["first seen", "seen before"])
def test_a_damaged_source_is_reported_with_place_and_remedy(
    tmp_path: Path,
    *,
    part: str,
    damage: Callable[[Path], object],
    facts: tuple[str, ...],
    known: bool,
    says: Says,
) -> None:
    path = make_run(tmp_path)
    if known:
        assert look(path).state == "finished"
    damage(path / part)
    entry = look(path)
    assert (entry.state, entry.summary) == ("damaged", None)
    (problem,) = entry.damage
    assert problem.where in (str(path), str(path / part))
    assert (problem.reason, problem.remedy) == says(*facts)


def test_the_loader_of_experiments_in_use_makes_nothing_but_plain_values(tmp_path: Path) -> None:
    """The quick one, where libyaml is there: as safe as the slow one."""
    text = "!!python/object/apply:os.getpid []"
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(text)
    entry = look(make_run(tmp_path, experiment=f"name: {text}\n"))
    assert entry.state == "damaged"


def test_a_name_that_is_no_text_is_not_spelled_out(tmp_path: Path) -> None:
    """Ten levels of ten references each would be as long as a disk."""
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 11):
        references = ", ".join([f"*a{level - 1}"] * 10)
        levels.append(f"a{level}: &a{level} [{references}]")
    entry = look(make_run(tmp_path, experiment="\n".join([*levels, "name: *a10"])))
    (damage,) = entry.damage
    assert "aliases unfolded" in damage.reason


def test_a_torn_last_line_is_no_damage(tmp_path: Path) -> None:
    path = make_stopped(tmp_path)
    with (path / "journal.jsonl").open("a") as journal:
        journal.write('{"kind": "tri')
    assert look(path).state == "stopped"


@pytest.mark.parametrize("part", ["experiment.yaml", "journal.jsonl", "result.json", "."])
@pytest.mark.parametrize("known", [False, True], ids=["first seen", "seen before"])
@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_what_may_not_be_read_is_damaged_to_who_looks(part: str, *, known: bool) -> None:
    with open_folder() as root:
        path = make_run(root)
        if known:
            look(path)
        (path / part).chmod(0)
        with nobody():
            entry = look(path)
        assert entry.state == "damaged"
        (damage,) = entry.damage
        assert "Permission denied" in damage.reason


def test_a_directory_that_is_not_there_is_damaged(tmp_path: Path) -> None:
    entry = look(tmp_path / "20260314T120005-gone")
    assert (entry.state, entry.damage[0].reason) == ("damaged", "holds no experiment.yaml")
    assert entry.began_unix_ns == NOON_NS


def test_damaged_notes_leave_the_run_as_it_is(tmp_path: Path, says: Says) -> None:
    path = make_run(tmp_path)
    (path / "notes.json").write_text("{")
    entry = look(path)
    assert (entry.state, dict(entry.notes.tags)) == ("finished", {})
    (damage,) = entry.damage
    assert damage.where == str(path / "notes.json")
    assert damage.reason == says("notes")


def test_an_old_result_next_to_a_matching_experiment(tmp_path: Path) -> None:
    """The lock file of a run from elsewhere may be anything."""
    path = make_run(tmp_path, experiment=EXPERIMENT, events=[started(), finished()])
    (path / "lock").unlink()
    os.mkfifo(path / "lock")
    assert look(path).state == "finished"
    (path / "lock").unlink()
    (path / "lock").symlink_to("lock")
    assert look(path).state == "finished"


def test_what_is_requested_does_not_write_through_a_link(tmp_path: Path) -> None:
    """A run from elsewhere could know under which name a summary is written first."""
    path = make_run(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (path / f".summary.json.{os.getpid()}").symlink_to(victim)
    assert look(path).state == "finished"
    assert victim.read_text() == "precious"


def test_the_lock_is_not_written_through_a_link(tmp_path: Path) -> None:
    path = make_run(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (path / "lock").unlink()
    (path / "lock").symlink_to(victim)
    with pytest.raises(Exception, match="cannot record"), RunDirectory(path).lock():
        pass
    assert victim.read_text() == "precious"
