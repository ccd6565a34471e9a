"""One writer to a run directory at a time."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.record.files.record_error import RecordError, write_failed

# A process that calls `is_held` holds the lock for microseconds, and longer where it is kept from
# its CPU between the two.
_TRIES = 10
_BETWEEN_TRIES_S = 0.02
_LOOK = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; the kernel lets go of it however this process ends.

    Raises RecordError naming the holder's pid when another process holds it.
    """
    try:
        # A directory from elsewhere may hold a link there, which is not to be written through.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise write_failed(path, error) from error
    try:
        _take(descriptor, path)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def kept_idle(path: Path) -> Iterator[None]:
    """Keep others from taking the lock file `path`, and change nothing.

    Without a lock file no run has ever begun, and nothing is held. Raises RecordError naming
    the holder's pid when another process holds it.
    """
    try:
        descriptor = os.open(path, _LOOK)
    except OSError:
        yield
        return
    try:
        _lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether a live process holds the lock file `path`, as far as we may look at it."""
    try:
        descriptor = os.open(path, _LOOK)
    except OSError:
        return False
    try:
        # Shared, so that those who ask do not take each other for holders.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _take(descriptor: int, path: Path) -> None:
    _lock(descriptor, path)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise write_failed(path, error) from error


def _lock(descriptor: int, path: Path) -> None:
    for tries_left in reversed(range(_TRIES)):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if not tries_left:
                raise _held(descriptor, path) from None
            time.sleep(_BETWEEN_TRIES_S)
        except OSError as error:
            raise _cannot_lock(path, error) from error


def _cannot_lock(path: Path, error: OSError) -> RecordError:
    """Of a file system that knows no locks, such as NFS without its lock daemon."""
    return RecordError(
        f"cannot be locked: {error.strerror or error}; nothing was written without the lock",
        where=str(path),
        remedy="keep the runs on a file system that has locks (--runs), or mount it with them",
    )


def _held(descriptor: int, path: Path) -> RecordError:
    pid = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
    return RecordError(
        f"another run is writing here (pid {pid})",
        where=str(path.parent),
        remedy="wait until it ends, or stop it, or start a run of its own",
    )
