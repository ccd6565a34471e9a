"""`plimsoll runs tag` and `note`, and --tag on the commands that leave a run."""

import json
from pathlib import Path

import pytest

from plimsoll.record.index.run_notes import read_notes
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.run_lock import locked
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.methods.matrix.matrix_files import EXPERIMENT
from tests.unit.record.index.run_dirs import make_run
from tests.worded.says import Says

ROOT = Path("runs")


def tags(path: Path) -> dict[str, str]:
    return dict(read_notes(RunDirectory(path)).tags)


def test_tags_are_set_and_taken_off_and_shown(plimsoll: Plimsoll) -> None:
    path = make_run(ROOT)
    assert plimsoll("runs", "tag", "last", "kernel=6.1", "nic=e810") == 0
    assert plimsoll.out == "kernel=6.1\nnic=e810\n"
    assert plimsoll("runs", "tag", "2026", "kernel=6.6", "--remove", "nic") == 0
    assert plimsoll.out == "kernel=6.6\n"
    assert tags(path) == {"kernel": "6.6"}
    assert plimsoll("runs", "tag", path, "--remove", "kernel") == 0
    assert tags(path) == {}


def test_they_are_written_while_the_run_is_going_on(plimsoll: Plimsoll) -> None:
    path = make_run(ROOT)
    with locked(path / "lock"):
        assert plimsoll("runs", "tag", "last", "kernel=6.1") == 0
        assert plimsoll("runs", "note", "last", "halfway") == 0
    assert tags(path) == {"kernel": "6.1"}
    assert [note.text for note in read_notes(RunDirectory(path)).notes] == ["halfway"]


@pytest.mark.parametrize(
    ("words", "code", "facts"),
    [
        (["tag", "last"], 2, ("tag", "plimsoll runs tag")),
        (["tag", "last", "kernel"], 2, ("tag", "kernel", "plimsoll runs tag")),
        (["tag", "last", "a=\x1b"], 2, ("\\x1b", "plimsoll runs tag")),
        (["tag", "last", "--remove", "nic"], 2, ("nic", "tag")),
        (["tag", "last", "--remove", "a b"], 2, ("a b", "--remove", "tag")),
        (["tag", "gone", "a=b"], 2, ("plimsoll runs",)),
        (["note", "last", " "], 2, ("note",)),
        (["note", "last", "a\x07"], 2, ("a\\x07",)),
        (["note", "gone", "a"], 2, ("plimsoll runs",)),
    ],
)
def test_mistakes_change_nothing(
    plimsoll: Plimsoll, words: list[str], code: int, facts: tuple[str, ...], says: Says
) -> None:
    path = make_run(ROOT)
    assert plimsoll("runs", *words) == code
    assert plimsoll.err == says(*facts)
    assert "remedy:" in plimsoll.err
    assert not (path / "notes.json").exists()


def test_damaged_notes_are_not_overwritten(plimsoll: Plimsoll, says: Says) -> None:
    path = make_run(ROOT)
    (path / "notes.json").write_text("{")
    assert plimsoll("runs", "tag", "last", "a=b") == 4
    assert plimsoll.err == says("notes")
    assert (path / "notes.json").read_text() == "{"


def test_a_run_has_its_tags_from_its_beginning(plimsoll: Plimsoll) -> None:
    Path("demo.yaml").write_text(json.dumps(EXPERIMENT))
    words = ("--tag", "kernel=6.1", "--tag", "nic=e810")
    assert plimsoll("trial", "demo.yaml", "--load", "10kpps", "--duration", "500ms", *words) == 0
    (path,) = ROOT.iterdir()
    assert tags(path) == {"kernel": "6.1", "nic": "e810"}


@pytest.mark.parametrize(
    "words",
    [
        ["run", "demo.yaml"],
        ["trial", "demo.yaml", "--load", "10kpps"],
        ["soak", "demo.yaml", "--load", "10kpps", "--duration", "1s"],
        ["matrix", "demo.yaml"],
        ["test", "rfc2544", "demo.yaml"],
        ["test", "rfc9004", "demo.yaml"],
        ["probe", "demo.yaml"],
        ["latency-at-load", "demo.yaml"],
    ],
)
def test_a_tag_that_is_none_leaves_no_run(plimsoll: Plimsoll, words: list[str], says: Says) -> None:
    Path("demo.yaml").write_text(json.dumps(EXPERIMENT))
    assert plimsoll(*words, "--tag", "kernel") == 2
    assert plimsoll.err == says("--tag", "kernel")
    assert not ROOT.exists()
