"""What is at a path that a user gave, which may not be a valid path at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from plimsoll.errors import InputError


def look_at(path: Path) -> os.stat_result | None:
    """The status of what is there, links followed; None where nothing is.

    Raises InputError where it may not be seen, and for what cannot be a name: one that is too
    long, links that lead in a circle, a zero byte.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be read: {reason_of(error)}", where=str(path), remedy="check the path"
        ) from None


def reason_of(error: OSError | ValueError) -> str:
    """What the system says; of a zero byte in a name what Python does."""
    return getattr(error, "strerror", None) or str(error)


# Files read whole, whatever stands where a user points: a device or a pipe never ends.
def read_regular_file(path: Path, most_mib: int, too_large: str) -> bytes:
    """All of a file of at most `most_mib` MiB.

    Raises InputError for what is not a regular file and, with `too_large` as the remedy, for a
    larger one; OSError, or ValueError for an impossible path, where it cannot be read.
    """
    # Without O_NONBLOCK a pipe would block opening until a process writes to it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InputError("is not a regular file", where=str(path), remedy="give a file")
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read((most_mib << 20) + 1)
    finally:
        os.close(descriptor)
    if len(content) > most_mib << 20:
        raise InputError(f"is larger than {most_mib} MiB", where=str(path), remedy=too_large)
    return content
