"""What goes wrong while recording, or while reading a record back."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from pydantic import ValidationError

from plimsoll.errors import PlimsollError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MEBIBYTE = 2**20


class RecordError(PlimsollError):
    """The record cannot be written or read; what it already holds is unharmed."""

    exit_code = 4


def write_failed(path: Path, error: OSError) -> RecordError:
    """The error for a failed write to `path`: names the path, the room left and the remedy."""
    reason = error.strerror or str(error)
    return RecordError(
        f"cannot record: {reason} ({_free_space(path)}); what was recorded before is unharmed",
        where=str(path),
        remedy=_remedy(error),
    )


def in_one_line(error: ValidationError) -> str:
    """The first of its mistakes, by field, and how many there are."""
    first, count = error.errors(include_url=False)[0], error.error_count()
    place = ".".join(str(step) for step in first["loc"])
    said = f"{place}: {first['msg']}" if place else first["msg"]
    return said if count == 1 else f"{said} (and {count - 1} more)"


def _remedy(error: OSError) -> str:
    if error.errno in _NO_ROOM:
        return "make room on this file system or raise the limit, then resume the run"
    return "make the run directory writable, then resume the run"


def _free_space(path: Path) -> str:
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError:
        return "free space unknown"
    return f"{free / _MEBIBYTE:.1f} MiB free"
