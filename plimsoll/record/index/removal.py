"""Removing runs: only what is a run, all of it, and nothing that it points to."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from pathlib import Path

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.removal_plan import Removal, check_is_over, identity_of, removal_failed
from plimsoll.record.run.run_lock import kept_idle
from plimsoll.text.plain_text import plain_text

_TAKEN_OUT = re.compile(r"\.plimsoll-removed-[0-9a-f]{16}")
_LOOK_AGAIN = "look what it is now, and try again"
_WRITABLE = "make the folder that it lies in writable for you"
# Another process may be removing the same files.
_TRIES = 5


def remove(removal: Removal) -> None:
    """Remove what was planned, if it is still what was planned.

    The run is out of every list at once, and then deleted: a kill before that leaves a hidden
    directory next to the others, which `finish_removals` deletes. Raises InputError where the
    run has begun to go on, and RecordError where it has changed or cannot be removed.
    """
    if removal.is_link:
        _check_unchanged(removal, removal.path)
        _unlink(removal.path)
        return
    check_is_over(removal.path)
    # Held to the end, so that no process resumes the run while it vanishes.
    with kept_idle(removal.path / "lock"):
        _delete(_taken_out(removal))


def finish_removals(folder: Path) -> int:
    """Delete what removals that were cut short have left in `folder`, and say how many.

    Raises RecordError where that cannot be done.
    """
    try:
        with os.scandir(folder) as entries:
            leftovers = [
                folder / entry.name
                for entry in entries
                if _TAKEN_OUT.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return 0
    for path in leftovers:
        _delete(path)
    return len(leftovers)


def _taken_out(removal: Removal) -> Path:
    """Where the run is now, under a name that no list shows."""
    token = secrets.token_hex(8)
    aside = removal.path.with_name(f".plimsoll-aside-{token}")
    doomed = removal.path.with_name(f".plimsoll-removed-{token}")
    try:
        removal.path.rename(aside)
        # From here on no other directory can be put in its place.
        try:
            _check_unchanged(removal, aside)
        except RecordError:
            aside.rename(removal.path)
            raise
        aside.rename(doomed)
    except OSError as error:
        raise removal_failed("cannot be removed", removal.path, error, _WRITABLE) from error
    return doomed


def _check_unchanged(removal: Removal, path: Path) -> None:
    try:
        found = os.lstat(path)
    except OSError as error:
        raise removal_failed("cannot be removed", removal.path, error, _LOOK_AGAIN) from error
    if identity_of(found) != removal.identity:
        raise RecordError(
            "has changed since you confirmed",
            where=plain_text(str(removal.path)),
            remedy=_LOOK_AGAIN,
        )


def _delete(path: Path) -> None:
    """All of a directory, by descriptors, so that no link leads out of it."""
    for tries_left in reversed(range(_TRIES)):
        try:
            shutil.rmtree(path)
        except FileNotFoundError as error:
            if not os.path.lexists(path):
                return
            if not tries_left:
                raise _half_deleted(path, error) from error
        except OSError as error:
            raise _half_deleted(path, error) from error
        else:
            return


def _unlink(path: Path) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        raise removal_failed("cannot be removed", path, error, _WRITABLE) from error


def _half_deleted(path: Path, error: OSError) -> RecordError:
    remedy = "make all in it writable for you, and remove it by hand"
    return removal_failed("is no longer listed, but cannot be deleted", path, error, remedy)
