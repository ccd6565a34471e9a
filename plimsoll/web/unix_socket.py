"""A Unix socket to listen on: of this user alone, never in the place of a file that is there."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger

_OPTION = "--listen"
_BACKLOG = 128
_MODE = 0o600


@contextmanager
def listening_on_unix(path: Path, ledger: Ledger) -> Iterator[socket.socket]:
    """A socket that listens at `path` for the length of a `with`.

    Its file is noted in the ledger, which removes it after a kill. Raises MachineError where it
    cannot be made.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            # The file has this mode from its first moment on (unix(7), sockfs's inode).
            os.fchmod(listener.fileno(), _MODE)
            # Fails where there is any file, a link that leads nowhere included.
            listener.bind(str(path))
            made = path.lstat()
            ledger.note_path(path)
            listener.listen(_BACKLOG)
        except OSError as error:
            raise _cannot(path, error) from error
        try:
            yield listener
        finally:
            _remove(path, made, ledger)


def _remove(path: Path, made: os.stat_result, ledger: Ledger) -> None:
    """Unless it has been replaced: then it is another program's, and the ledger's no more."""
    with suppress(FileNotFoundError):
        found = path.lstat()
        if (found.st_dev, found.st_ino) == (made.st_dev, made.st_ino):
            path.unlink()
    # A ledger that has been undone by now knows of nothing.
    with suppress(MachineError):
        ledger.forget_path(path)


def _cannot(path: Path, error: OSError) -> MachineError:
    try:
        mode = path.lstat().st_mode
    except OSError:
        reason, remedy = (
            error.strerror or str(error),
            "choose another path, in a folder that exists",
        )
    else:
        if not stat.S_ISSOCK(mode):
            reason, remedy = "another file is there", "choose another path"
        elif _has_listener(path):
            reason, remedy = "another process listens there", "end it, or choose another path"
        else:
            reason = "a socket is there, on which nothing listens"
            remedy = "remove it where no other program needs it, or choose another path"
    return MachineError(f"cannot listen on {path}: {reason}", where=_OPTION, remedy=remedy)


def _has_listener(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return False
        except OSError:
            # Of another kind, or closed to us: there may be one.
            pass
    return True
