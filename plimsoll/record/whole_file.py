"""Files that are written as a whole: the old content or the new one, never a half."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from plimsoll.record.record_error import write_failed


def write_whole(path: Path, text: str) -> None:
    """Replace `path` by `text`, durably. Raises RecordError; `path` is then as before."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _write_through(unfinished, text)
        unfinished.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise write_failed(path, error) from error


def _write_through(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
