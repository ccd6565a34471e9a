"""One writer to a run directory at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.record.record_error import RecordError, write_failed


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; the kernel lets go of it however this process ends.

    Raises RecordError naming the holder's pid when another process holds it.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise write_failed(path, error) from error
    try:
        _take(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _held(descriptor, path) from None
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise write_failed(path, error) from error


def _held(descriptor: int, path: Path) -> RecordError:
    pid = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
    return RecordError(
        f"another run is writing here (pid {pid})",
        where=str(path.parent),
        remedy="wait until it ends, or stop it, or start a run of its own",
    )
