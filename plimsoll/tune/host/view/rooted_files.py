"""Files below a root directory, none of whose links leads out of it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import Unread, UnreadCause

# /proc/interrupts of 512 CPUs and 1000 lines is 6 MB; a hostile tree may hold anything.
MAX_FILE_BYTES = 16 << 20
# sysctls allocate a buffer of the size requested, and refuse large ones with ENOMEM.
_PIECE_BYTES = 1 << 16
# The kernel's own bound on links followed for one name.
_MAX_LINKS = 40
# Where others than root make the names.
_HOMES = "home"
T = TypeVar("T")
# Pods' groups lie seven deep; links that lead in circles end here.
_DEEPEST = 12


class RootedFiles:
    """Reads `/proc/cmdline` as `ROOT/proc/cmdline`; links are resolved as if ROOT were /.

    Only regular files are read, and at most MOST_FILE_BYTES of them. In homes no link is
    followed and only what belongs to the home's owner is read: the reader may be root, and
    a user's link or hard link may name any file. What is checked is what is then read, for
    every step is taken from an open directory: it cannot be swapped in between.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def text(self, path: str) -> str | Unread:
        """The text of a file, without blanks around it; what is not UTF-8 is replaced."""
        return _requested(path, lambda: self._text(path))

    def names(self, path: str) -> tuple[str, ...] | Unread:
        """The names in a directory, sorted."""
        return _requested(path, lambda: self._names(path))

    def target(self, path: str) -> str | Unread:
        """What a link says."""
        return _requested(path, lambda: self._target(path))

    def _text(self, path: str) -> str:
        with self._way_to(path) as place:
            # Without O_NONBLOCK opening a FIFO would wait for a writer.
            return _read(place.opened(os.O_RDONLY | os.O_NONBLOCK), place.owner)

    def _names(self, path: str) -> tuple[str, ...]:
        with self._way_to(path) as place:
            directory = place.opened(os.O_RDONLY | os.O_DIRECTORY)
            try:
                return tuple(sorted(os.listdir(directory)))
            finally:
                os.close(directory)

    def _target(self, path: str) -> str:
        with self._way_to(path, follow_last=False) as place:
            return os.readlink(place.name, dir_fd=place.directory)

    @contextmanager
    def _way_to(self, path: str, *, follow_last: bool = True) -> Iterator[_Place]:
        """The directory that has what `path` leads to, open; raises OSError."""
        parts = _parts(path)
        with ExitStack() as opened:
            if parts[:1] == [_HOMES] and len(parts) > 2:
                home = opened.enter_context(self._way_to(f"/{_HOMES}/{parts[1]}"))
                yield _in_home(home.opened(os.O_PATH | os.O_DIRECTORY), parts[2:], opened)
            elif self._root == Path("/"):
                # The system itself follows, and the links of procfs that have no text too.
                yield _Place(None, path, flags=0)
            else:
                yield _below(self._root, parts, follow_last, opened)


@dataclass(frozen=True, slots=True)
class _Place:
    """A name in an open directory; `owner` is who must own what it is, None for anybody."""

    directory: int | None
    name: str
    owner: int | None = None
    flags: int = os.O_NOFOLLOW

    def opened(self, flags: int) -> int:
        if self.owner is not None:
            _refuse_link(self.name, self.directory)
        return os.open(self.name, flags | self.flags | os.O_CLOEXEC, dir_fd=self.directory)


def _in_home(home: int, parts: list[str], opened: ExitStack) -> _Place:
    opened.callback(os.close, home)
    if ".." in parts:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    here = home
    for part in parts[:-1]:
        _refuse_link(part, here)
        here = _entered(here, part, opened)
    return _Place(here, parts[-1], os.fstat(home).st_uid)


def _refuse_link(name: str, directory: int | None) -> None:
    """Say so; that none is followed is O_NOFOLLOW's doing."""
    if stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
        raise OSError(errno.EINVAL, "a link in a home, which is not followed")


def _below(root: Path, parts: list[str], follow_last: bool, opened: ExitStack) -> _Place:
    """Follow every link by its text, from `root` where it is absolute."""
    way = [_entered(None, str(root), opened, os.O_RDONLY)]
    waiting, links = parts[::-1], 0
    while waiting:
        part = waiting.pop()
        if part == "..":
            way = way[:-1] or way
            continue
        said = _link_text(part, way[-1]) if waiting or follow_last else None
        if said is not None:
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            way = way[:1] if said.startswith("/") else way
            waiting += _parts(said)[::-1]
        elif not waiting:
            return _Place(way[-1], part)
        else:
            way.append(_entered(way[-1], part, opened))
    return _Place(way[-1], ".")


def _entered(above: int | None, name: str, opened: ExitStack, links: int = os.O_NOFOLLOW) -> int:
    flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
    directory = os.open(name, flags | links, dir_fd=above)
    opened.callback(os.close, directory)
    return directory


def _link_text(name: str, directory: int) -> str | None:
    """What a link says; None of what is none."""
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _parts(path: str) -> list[str]:
    return [part for part in PurePosixPath(path).parts if part not in ("/", "//")]


def _read(descriptor: int, owner: int | None) -> str:
    with open(descriptor, "rb", buffering=0) as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if owner is not None and found.st_uid != owner:
            raise OSError(errno.EINVAL, "not its home's owner's")
        pieces: list[bytes] = []
        size = 0
        while piece := file.read(_PIECE_BYTES):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_FILE_BYTES:
                raise OSError(errno.EFBIG, f"larger than {MAX_FILE_BYTES >> 20} MiB")
    return b"".join(pieces).decode(errors="replace").strip()


def _requested(path: str, ask: Callable[[], T]) -> T | Unread:
    try:
        return ask()
    except OSError as error:
        return Unread(path, _cause(error), "" if _known(error) else error.strerror or "")
    except ValueError:
        # A zero byte in a name.
        return Unread(path, "absent")


def _cause(error: OSError) -> UnreadCause:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "absent"
    return "forbidden" if isinstance(error, PermissionError) else "unreadable"


def _known(error: OSError) -> bool:
    """Whether the cause says it all."""
    return _cause(error) != "unreadable"


# Files of one name at any depth.
def walk(view: HostView, directory: str, name: str, depth: int = 0) -> Iterator[str]:
    """The paths of all files called `name` below `directory`, those further up first.

    A directory that cannot be listed has none. Raises nothing.
    """
    names = view.listing(directory)
    if names is None or depth > _DEEPEST:
        return
    if name in names:
        yield f"{directory}/{name}"
    for each in names:
        yield from walk(view, f"{directory}/{each}", name, depth + 1)
