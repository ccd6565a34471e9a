"""Files below a root directory, none of whose links leads out of it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TypeVar

from plimsoll.tune.host.unread import Cause, Unread

# /proc/interrupts of 512 CPUs and 1000 lines is 6 MB; a hostile tree may hold anything.
MOST_FILE_BYTES = 16 << 20
# sysctls make a buffer of what is asked for, and refuse large ones with ENOMEM.
_PIECE_BYTES = 1 << 16
# The kernel's own bound on links followed for one name.
_MOST_LINKS = 40

T = TypeVar("T")


class RootedFiles:
    """Reads `/proc/cmdline` as `ROOT/proc/cmdline`; links are resolved as if ROOT were /.

    Only regular files are read, and at most MOST_FILE_BYTES of them.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def text(self, path: str) -> str | Unread:
        """The text of a file, without blanks around it; what is no UTF-8 is replaced."""
        return _asked(path, lambda: _read(self._resolved(path)))

    def names(self, path: str) -> tuple[str, ...] | Unread:
        """The names in a directory, sorted."""
        return _asked(path, lambda: tuple(sorted(os.listdir(self._resolved(path)))))

    def target(self, path: str) -> str | Unread:
        """What a link says."""
        return _asked(path, lambda: os.readlink(self._resolved(path, follow_last=False)))

    def _resolved(self, path: str, *, follow_last: bool = True) -> str:
        """The real place of `path`; raises OSError where links never end."""
        if self._root == Path("/"):
            # The system itself does, including the links of procfs that have no text.
            return path
        waiting = _parts(path)[::-1]
        place: list[str] = []
        links = 0
        while waiting:
            part = waiting.pop()
            if part == "..":
                place = place[:-1]
                continue
            here = self._root.joinpath(*place, part)
            if not here.is_symlink() or not (waiting or follow_last):
                place.append(part)
                continue
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            said = os.readlink(here)
            place = [] if said.startswith("/") else place
            waiting += _parts(said)[::-1]
        return str(self._root.joinpath(*place))


def _parts(path: str) -> list[str]:
    return [part for part in PurePosixPath(path).parts if part not in ("/", "//")]


def _read(path: str) -> str:
    # Without O_NONBLOCK opening a FIFO would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        pieces: list[bytes] = []
        size = 0
        while piece := file.read(_PIECE_BYTES):
            pieces.append(piece)
            size += len(piece)
            if size > MOST_FILE_BYTES:
                raise OSError(errno.EFBIG, f"larger than {MOST_FILE_BYTES >> 20} MiB")
    return b"".join(pieces).decode(errors="replace").strip()


def _asked(path: str, ask: Callable[[], T]) -> T | Unread:
    try:
        return ask()
    except OSError as error:
        return Unread(path, _cause(error), "" if _known(error) else error.strerror or "")
    except ValueError:
        # A zero byte in a name.
        return Unread(path, "absent")


def _cause(error: OSError) -> Cause:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "absent"
    return "forbidden" if isinstance(error, PermissionError) else "unreadable"


def _known(error: OSError) -> bool:
    """Whether the cause says it all."""
    return _cause(error) != "unreadable"
