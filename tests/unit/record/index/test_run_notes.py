"""Tags and notes in the run directory, also while others write them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index import run_notes
from plimsoll.record.index.run_notes import RunNotes, change_notes, read_notes
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.run_lock import locked
from tests.unit.record.index.run_dirs import make_run
from tests.worded.says import Says

ROOT = Path(__file__).resolve().parents[4]
WRITER = """
import sys
from pathlib import Path
from plimsoll.record.index.run_notes import change_notes
from plimsoll.record.run.run_directory import RunDirectory
run = RunDirectory(Path(sys.argv[1]))
for number in range(20):
    change_notes(run, lambda known: known.noted(f"{sys.argv[2]} {number}"))
"""


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory(make_run(tmp_path))


def tag(run: RunDirectory, *removed: str, **tags: str) -> RunNotes:
    return change_notes(run, lambda known: known.tagged(tags, removed))


def test_without_a_file_there_is_nothing(run: RunDirectory) -> None:
    assert read_notes(run) == RunNotes()


def test_tags_are_set_changed_and_taken_off(run: RunDirectory) -> None:
    tag(run, kernel="6.1", nic="e810")
    assert dict(read_notes(run).tags) == {"kernel": "6.1", "nic": "e810"}
    assert dict(tag(run, "nic", kernel="6.6").tags) == {"kernel": "6.6"}
    assert dict(read_notes(run).tags) == {"kernel": "6.6"}


def test_notes_are_added_with_their_time(run: RunDirectory) -> None:
    before = time.time_ns()
    change_notes(run, lambda known: known.noted(" after the BIOS update\nby Ä. "))
    tag(run, kernel="6.1")
    change_notes(run, lambda known: known.noted("again"))
    first, second = read_notes(run).notes
    assert (first.text, second.text) == ("after the BIOS update\nby Ä.", "again")
    assert before <= first.at_unix_ns <= second.at_unix_ns <= time.time_ns()


def test_the_file_is_readable_for_people(run: RunDirectory) -> None:
    tag(run, ort="Köln")
    assert json.loads((run.path / "notes.json").read_text()) == {
        "format": 1,
        "tags": {"ort": "Köln"},
        "notes": [],
    }
    assert "Köln" in (run.path / "notes.json").read_text()


def test_they_are_written_while_the_run_is_going_on(run: RunDirectory) -> None:
    with locked(run.path / "lock"):
        tag(run, kernel="6.1")
    assert dict(read_notes(run).tags) == {"kernel": "6.1"}


def test_no_note_is_lost_when_two_write_at_once(run: RunDirectory) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(run.path), name], cwd=ROOT)
        for name in ("a", "b")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    texts = sorted(note.text for note in read_notes(run).notes)
    assert texts == sorted(f"{name} {number}" for name in "ab" for number in range(20))


def test_a_writer_that_never_ends_is_reported(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(run_notes, "_LOCK_WAIT_S", 0.05)
    with locked(run.path / "notes.lock"), pytest.raises(RecordError) as caught:
        tag(run, kernel="6.1")
    assert caught.value == says()
    assert caught.value.where == str(run.path)


def test_a_change_that_is_refused_leaves_all_as_it_was(run: RunDirectory, says: Says) -> None:
    tag(run, kernel="6.1")
    with pytest.raises(InputError) as caught:
        tag(run, "nic", kernel="6.6")
    assert caught.value.where == "nic"
    assert caught.value == says("kernel")
    assert dict(read_notes(run).tags) == {"kernel": "6.1"}


def test_there_is_a_most_of_tags_and_notes(says: Says) -> None:
    full = RunNotes().tagged({f"k{number}": "v" for number in range(64)})
    assert dict(full.tagged({"k0": "w"}).tags)["k0"] == "w"
    with pytest.raises(InputError) as caught:
        full.tagged({"more": "v"})
    assert caught.value == says("65")
    notes = RunNotes()
    for _ in range(1000):
        notes = notes.noted("x")
    with pytest.raises(InputError, match="1000 notes already"):
        notes.noted("x")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", ()),
        (" \n ", ()),
        ("x" * 4001, ("4,001",)),
        ("a\x1b[31mb", ("a\\x1b[31mb",)),
        ("a\rb", ()),
        ("a\u2028b", ("a\\u2028b",)),
    ],
)
def test_what_is_no_note_is_refused(text: str, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(InputError) as caught:
        RunNotes().noted(text)
    assert caught.value == says(*facts)
    assert caught.value.remedy


@given(st.text(max_size=50), st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3))
def test_what_was_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, text: str, tags: dict[str, str]
) -> None:
    """Also keys and values that the commands would refuse, as an older version might not."""
    run = RunDirectory(tmp_path_factory.mktemp("run"))
    printable = {k: v for k, v in tags.items() if k.isprintable() and v.isprintable()}
    try:
        expected = RunNotes().tagged(printable).noted(text)
    except InputError:
        return
    change_notes(run, lambda _: expected)
    assert read_notes(run) == expected


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda path: path.write_text(""), "Expecting value"),
    "cut": (lambda path: os.truncate(path, 20), "cannot be read"),
    "binary": (lambda path: path.write_bytes(b"\0\xff"), "cannot be read"),
    "of another format": (lambda path: path.write_text('{"format": 2}'), "format"),
    "a list": (lambda path: path.write_text("[]"), "format"),
    "deep": (lambda path: path.write_text("[" * 100_000), "cannot be read"),
    "no tags": (lambda path: path.write_text('{"format": 1, "notes": []}'), "no tags"),
    "a number for a tag": (
        lambda path: path.write_text('{"format": 1, "tags": {"a": 1}, "notes": []}'),
        "a tag that is not text",
    ),
    "a note without time": (
        lambda path: path.write_text('{"format": 1, "tags": {}, "notes": [{"text": "a"}]}'),
        "a note without a time",
    ),
    "a note without text": (
        lambda path: path.write_text('{"format": 1, "tags": {}, "notes": [{"at_unix_ns": 1}]}'),
        "a note without text",
    ),
    "a note of a far future": (
        lambda path: path.write_text(
            '{"format": 1, "tags": {}, "notes": [{"at_unix_ns": 1' + "0" * 30 + ', "text": "a"}]}'
        ),
        "a note without a time",
    ),
    "a directory": (lambda path: (path.unlink(), path.mkdir()), "not a regular file"),
    "a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), "not a regular file"),
    "a loop": (lambda path: (path.unlink(), path.symlink_to(path.name)), "symbolic links"),
    "huge": (lambda path: os.truncate(path, 2**40), "larger than 32 MiB"),
}


def identity(path: Path) -> tuple[int, int, int]:
    found = os.lstat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


@pytest.mark.parametrize(("damage", "said"), DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_file_is_reported_and_never_overwritten(
    run: RunDirectory, damage: Callable[[Path], object], said: str
) -> None:
    tag(run, kernel="6.1")
    path = run.path / "notes.json"
    damage(path)
    before = identity(path)
    for act in (lambda: read_notes(run), lambda: tag(run, kernel="6.6")):
        with pytest.raises(RecordError) as caught:
            act()
        assert said in caught.value.message
        assert caught.value.where == str(path)
        assert "lose them" in caught.value.remedy
    assert identity(path) == before


def test_a_directory_that_cannot_be_written_is_reported(run: RunDirectory, tmp_path: Path) -> None:
    (run.path / "notes.lock").mkdir()
    with pytest.raises(RecordError, match="cannot record"):
        tag(run, kernel="6.1")
    with pytest.raises(RecordError, match="cannot record"):
        tag(RunDirectory(tmp_path / "gone"), kernel="6.1")
