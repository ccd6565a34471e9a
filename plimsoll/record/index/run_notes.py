"""Tags and notes: what the user has to say of a run, kept in the run directory."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError, write_failed
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.index.run_paths import LATEST_NS
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.given_path import read_regular_file
from plimsoll.text.plain_text import plain_text

_MAX_TAGS = 64
_MAX_NOTE = 4000
_MAX_NOTES = 1000
# These bounds come to 16 MB, of characters that take four bytes each.
_MAX_MIB = 32
# Of a message that tells of them.
_MAX_SHOWN = 256
_LOCK_WAIT_S = 5.0
_BETWEEN_TRIES_S = 0.02
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,62}")
_MAX_VALUE = 256
_REMEDY = "write key=value, such as kernel=6.1"


@dataclass(frozen=True, slots=True)
class Note:
    """What was said, and when (UTC, ns since the epoch)."""

    at_unix_ns: int
    text: str


@dataclass(frozen=True, slots=True)
class RunNotes:
    """Tags by key, and notes from first to last."""

    tags: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def tagged(self, tags: Mapping[str, str], removed: Sequence[str] = ()) -> Self:
        """With `tags` set and those called `removed` gone.

        Raises InputError for one that is to go and is not there, and for too many.
        """
        for key in removed:
            if key not in self.tags:
                known = ", ".join(self.tags) or "none"
                raise InputError(
                    "the run has no such tag",
                    where=plain_text(key, _MAX_SHOWN),
                    remedy=f"name one that it has: {known}",
                )
        kept = {key: value for key, value in self.tags.items() if key not in removed}
        merged = dict(sorted({**kept, **tags}.items()))
        if len(merged) > _MAX_TAGS:
            raise InputError(
                f"{len(merged)} tags on one run",
                remedy=f"keep it to {_MAX_TAGS}; remove some with --remove",
            )
        return replace(self, tags=merged)

    def noted(self, text: str) -> Self:
        """With another note, of now. Raises InputError for an invalid note."""
        if len(self.notes) >= _MAX_NOTES:
            raise InputError(
                f"the run has {_MAX_NOTES} notes already",
                remedy="keep longer texts in a file next to it",
            )
        return replace(self, notes=(*self.notes, Note(time.time_ns(), _note_text(text))))


def notes_file(run: RunDirectory) -> Path:
    """Where tags and notes are kept; only the user's commands write it."""
    return run.path / "notes.json"


def read_notes(run: RunDirectory) -> RunNotes:
    """The run's tags and notes; none without a file. Raises RecordError for a damaged one."""
    path = notes_file(run)
    try:
        return _parsed(json.loads(read_regular_file(path, _MAX_MIB, "")))
    except FileNotFoundError:
        return RunNotes()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except InputError as error:
        raise _unreadable(path, error.message) from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error


def change_notes(run: RunDirectory, change: Callable[[RunNotes], RunNotes]) -> RunNotes:
    """Replace the run's tags and notes by what `change` makes of them, and return that.

    Other processes that change them wait; the run itself may be going on. Raises what
    `change` raises, and RecordError where they cannot be read or written.
    """
    with _only_writer(run.path / "notes.lock"):
        changed = change(read_notes(run))
        kept = {
            "format": 1,
            "tags": dict(changed.tags),
            "notes": [asdict(note) for note in changed.notes],
        }
        write_whole(notes_file(run), json.dumps(kept, indent=2, ensure_ascii=False) + "\n")
    return changed


@contextmanager
def _only_writer(path: Path) -> Iterator[None]:
    """Hold a lock of its own, apart from the run's, which is held while the run continues."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, 0o644)
    except OSError as error:
        raise write_failed(path, error) from error
    try:
        _take(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path) -> None:
    give_up_s = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up_s:
                raise RecordError(
                    f"another process has been writing tags or notes for {_LOCK_WAIT_S:g} s",
                    where=str(path.parent),
                    remedy="end that command, and try again",
                ) from None
            time.sleep(_BETWEEN_TRIES_S)
        except OSError as error:
            raise write_failed(path, error) from error
        else:
            return


def _unreadable(path: Path, reason: str) -> RecordError:
    return RecordError(
        f"tags and notes cannot be read: {reason}",
        where=str(path),
        remedy="restore the file from a copy of the run, or remove it and lose them",
    )


def _note_text(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        raise InputError("the note is empty", remedy='write for example: "after the BIOS update"')
    if len(stripped) > _MAX_NOTE:
        raise InputError(
            f"the note has {len(stripped):,} characters",
            remedy=f"keep it to {_MAX_NOTE:,}; put what is longer into a file",
        )
    if not all(line.isprintable() for line in stripped.split("\n")):
        raise InputError(
            f"the note holds what cannot be printed: {plain_text(stripped, _MAX_SHOWN)}",
            remedy="leave out control characters; line ends may stay",
        )
    return stripped


def _parsed(kept: Any) -> RunNotes:
    """Raises ValueError for what `change_notes` has not written."""
    if not isinstance(kept, dict) or kept.get("format") != 1:
        raise ValueError("not in a format that this version knows")
    tags, notes = kept.get("tags"), kept.get("notes")
    if not isinstance(tags, dict) or not isinstance(notes, list):
        raise ValueError("no tags or no notes")
    if not all(isinstance(value, str) for value in tags.values()):
        raise ValueError("a tag that is not text")
    return RunNotes(tags, tuple(_note(each) for each in notes))


def _note(kept: Any) -> Note:
    at_unix_ns = kept.get("at_unix_ns") if isinstance(kept, dict) else None
    if not isinstance(at_unix_ns, int) or not 0 <= at_unix_ns < LATEST_NS:
        raise ValueError("a note without a time")
    if not isinstance(kept.get("text"), str):
        raise ValueError("a note without text")
    return Note(at_unix_ns, kept["text"])


# Tags: short facts that the user hangs on a run, as in kernel=6.1.
def parse_tag(text: str) -> tuple[str, str]:
    """Key and value of "key=value". Raises InputError, without a place, for an invalid tag."""
    key, equals, value = text.partition("=")
    key, value = parse_tag_key(key), value.strip()
    if not equals or not value:
        raise InputError(f"the tag {key} has no value", remedy=_REMEDY)
    if len(value) > _MAX_VALUE:
        raise InputError(
            f"the value of {key} has {len(value):,} characters",
            remedy=f"keep it to {_MAX_VALUE}; what is longer is a note",
        )
    if not value.isprintable():
        raise InputError(
            f"the value of {key} holds what cannot be printed: {plain_text(value)}",
            remedy="leave out control characters and line ends",
        )
    return key, value


def parse_tag_key(text: str) -> str:
    """A tag's key. Raises InputError, without a place, if it is not one."""
    key = text.strip()
    if _KEY.fullmatch(key) is None:
        raise InputError(
            f"{plain_text(key, _MAX_VALUE)!r} is not a valid tag key",
            remedy="take up to 63 of A-Z a-z 0-9 . _ / - and begin with a letter or a digit",
        )
    return key
