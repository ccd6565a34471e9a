"""What goes wrong while recording, or while reading a record back."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from pydantic import ValidationError

from plimsoll.errors import PlimsollError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MEBIBYTE = 2**20
# As RunDirectory and the journal name them; a `plimsoll trial` has nothing to go on with.
_JOURNAL, _RESULT, _SINGLE = "journal.jsonl", "result.json", b'"method": "trial"'


class RecordError(PlimsollError):
    """The record cannot be written or read; what it already holds is unharmed."""

    exit_code = 4


def write_failed(path: Path, error: OSError) -> RecordError:
    """The error for a failed write to `path`: names the path, the room left and the remedy."""
    reason = error.strerror or str(error)
    return RecordError(
        f"cannot record: {reason} ({_free_space(path)}); what was recorded before is unharmed",
        where=str(path),
        remedy=f"{_remedy(error)}, then {_next(path)}",
    )


def cannot_begin(path: Path, error: OSError) -> RecordError:
    """The error for a run directory that cannot be made at `path`: no run has begun."""
    reason = error.strerror or str(error)
    return RecordError(
        f"cannot make the run directory: {reason} ({_free_space(path)}); nothing was run",
        where=str(path),
        remedy=_place_remedy(error),
    )


def in_one_line(error: ValidationError) -> str:
    """The first of its mistakes, by field, and how many there are."""
    first, count = error.errors(include_url=False)[0], error.error_count()
    place = ".".join(str(step) for step in first["loc"])
    said = f"{place}: {first['msg']}" if place else first["msg"]
    return said if count == 1 else f"{said} (and {count - 1} more)"


def _remedy(error: OSError) -> str:
    if error.errno in NO_ROOM:
        return "make room on this file system or raise the limit"
    return "make the directory writable"


def _next(path: Path) -> str:
    """What to do when that is done: there is not always a run to resume."""
    return "resume the run" if _resumable(path) else "give the command again"


def _resumable(path: Path) -> bool:
    """Whether `path` lies in a run that has begun, goes on after a kill and is not over."""
    for folder in (path.parent, path.parent.parent):
        try:
            with (folder / _JOURNAL).open("rb") as journal:
                first = journal.readline()
        except OSError:
            continue
        return bool(first) and _SINGLE not in first and not (folder / _RESULT).exists()
    return False


def _place_remedy(error: OSError) -> str:
    if error.errno in NO_ROOM:
        return "make room on this file system, or name another folder with --runs"
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return "name a folder with --runs, not a file"
    return "make the folder writable for you, or name another with --runs"


def _free_space(path: Path) -> str:
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError:
        return "free space unknown"
    return f"{free / _MEBIBYTE:.1f} MiB free"
