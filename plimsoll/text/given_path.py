"""What is at a path that a user gave, which may not be a valid path at all."""

from __future__ import annotations

import os
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
