"""The process that holds a run's lock, and a signal to it and to no other."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from plimsoll.errors import InputError, MachineError
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.run_lock import is_held

_LOOK = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
_MOST_DIGITS = 10


def holder_pid(run: RunDirectory) -> int | None:
    """The process that writes the run, by its lock file; None where none does, or says so."""
    return last_pid(run) if is_held(run.path / "lock") else None


def last_pid(run: RunDirectory) -> int | None:
    """The process that took the run's lock last, whether or not it still holds it."""
    try:
        descriptor = os.open(run.path / "lock", _LOOK)
    except OSError:
        return None
    try:
        text = os.pread(descriptor, _MOST_DIGITS + 1, 0).decode(errors="replace").strip()
    finally:
        os.close(descriptor)
    return int(text) if text.isascii() and text.isdecimal() and int(text) > 0 else None


def interrupt_run(run: RunDirectory) -> None:
    """Have the run end as Ctrl-C in its terminal would: its record stays whole and resumable.

    By SIGTERM, which it takes alike: of those begun in the background by a shell or nohup some
    ignore SIGINT.

    Raises InputError where no process writes it, MachineError where that may not be signalled.
    """
    pid = holder_pid(run)
    if pid is None:
        raise _idle(run)
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        raise _idle(run) from None
    try:
        # From here on the pid cannot become another's: what is true now stays true.
        if not _has_open(pid, run.path / "lock"):
            raise _idle(run)
        signal.pidfd_send_signal(process, signal.SIGTERM)
    except PermissionError as error:
        raise MachineError(
            f"process {pid}, which writes this run, belongs to another user",
            where=run.run_id,
            remedy="stop it as that user",
        ) from error
    except ProcessLookupError:
        raise _idle(run) from None
    finally:
        os.close(process)


def _has_open(pid: int, path: Path) -> bool:
    """Whether the process has the file open: a lock file may hold any number."""
    expected = path.stat()
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            found = entry.stat()
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (expected.st_dev, expected.st_ino):
            return True
    return False


def _idle(run: RunDirectory) -> InputError:
    return InputError(
        "no process on this host goes on with this run",
        where=run.run_id,
        remedy="reload the page to see how it ended",
    )
