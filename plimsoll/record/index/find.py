"""Which run a user means: by its path, its id, the start of its id, or `last`."""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.run_index import read_index
from plimsoll.record.index.run_paths import looks_like_run, run_paths
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.plain_text import plain_text

LAST = "last"
_MOST_CANDIDATES = 10
_REMEDY = "plimsoll runs lists those there are"


def find_run(text: str, runs_root: Path) -> RunDirectory:
    """The run that `text` means, opened.

    That is a path; or, below `runs_root`, an id, the start of just one id, or `last`,
    the one that began last. Raises InputError where there is none, where several have that prefix,
    and where it is not a run directory, and RecordError where it cannot be read.
    """
    path = find_run_path(text, runs_root)
    try:
        return RunDirectory.open(path)
    except OSError as error:
        raise RecordError(
            f"cannot be read: {error.strerror or error}",
            where=plain_text(str(path)),
            remedy="make the directory readable for you",
        ) from error


def find_run_path(text: str, runs_root: Path) -> Path:
    """The same, but the run may be damaged. Raises InputError as above."""
    if not text or "\0" in text:
        raise InputError("this names no run", where=repr(text), remedy=_REMEDY)
    if text == LAST:
        return _newest(runs_root)
    return _named(text, runs_root) or _begun_with(text, runs_root)


def _named(text: str, runs_root: Path) -> Path | None:
    """By its path or its whole id; what has no slash is an id first."""
    here, below = Path(text), runs_root / text
    if os.sep in text or text in (os.curdir, os.pardir):
        return next((path for path in (here, below) if os.path.lexists(path)), None)
    if os.path.lexists(below):
        return below
    return here if looks_like_run(here) and os.path.lexists(here) else None


def _begun_with(prefix: str, runs_root: Path) -> Path:
    # No id has a slash: what has one is a path, whether or not there is a folder of runs.
    paths = [] if os.sep in prefix else run_paths(runs_root)
    found = [path for path in paths if path.name.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    place = plain_text(prefix)
    if not found:
        raise InputError(
            f"there is no such run, neither by its path nor in {plain_text(str(runs_root))}",
            where=place,
            remedy=_REMEDY,
        )
    raise InputError(
        f"{len(found)} runs begin so: {_listed(found)}",
        where=place,
        remedy="write as much of the id as tells it from the others",
    )


def _listed(paths: list[Path]) -> str:
    shown = ", ".join(plain_text(path.name) for path in paths[:_MOST_CANDIDATES])
    left = len(paths) - _MOST_CANDIDATES
    return shown if left <= 0 else f"{shown} and {left} more"


def _newest(runs_root: Path) -> Path:
    """Of those that can be read, and of those whose time is known, where there are any."""
    entries = [entry for entry in read_index(runs_root) if entry.state != "damaged"]
    if not entries:
        place = plain_text(str(runs_root))
        raise InputError("there is no run yet", where=place, remedy=_REMEDY)
    return max(entries, key=lambda entry: (entry.began_unix_ns or 0, entry.run_id)).run.path
