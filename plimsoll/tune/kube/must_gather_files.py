"""The files of a must-gather that an audit may want, out of a directory or an archive.

Nothing is unpacked onto a disk and no link is followed. Of an archive only the members that
are asked for are kept; a must-gather is mostly logs, gigabytes of them.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from plimsoll.errors import InputError

MOST_FILE_BYTES = 32 << 20
MOST_KEPT_BYTES = 256 << 20
# A must-gather of hundreds of nodes; few compressed bytes make terabytes.
_MOST_ARCHIVE_BYTES = 32 << 30
_MOST_MEMBERS = 1_000_000
# A member's header with its long names, and what tarfile reads ahead.
_MOST_HEADER_BYTES = 1 << 20
_LONGEST_SHOWN = 80
_REMEDY = "give the directory or archive that oc adm must-gather wrote"

_GZIP, _XZ, _BZIP2 = b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh"

Wanted = Callable[[str], bool]


class _Readable(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


def wanted_files(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    """(path within it, content) of each regular file whose path is `wanted`.

    Directories give them in the order of their names, archives in their own. Raises InputError
    for what is neither, for a wanted path that is a link or a device, and for more than a
    must-gather can need.
    """
    files = _of_directory(path, wanted) if path.is_dir() else _of_archive(path, wanted)
    kept = 0
    for name, content in files:
        kept += len(content)
        if kept > MOST_KEPT_BYTES:
            raise _refused(path, f"holds more than {MOST_KEPT_BYTES >> 20} MiB of objects")
        yield name, content


def _of_directory(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    count = 0
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            count += 1
            if count > _MOST_MEMBERS:
                raise _refused(path, f"holds more than {_MOST_MEMBERS} files")
            place = Path(folder) / name
            within = place.relative_to(path).as_posix()
            if wanted(within):
                yield within, _read_regular(path, place, within)


def _read_regular(path: Path, place: Path, name: str) -> bytes:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _refused(path, f"holds {_shown(name)!r}, a link or a device")
            content = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        if place.is_symlink():
            raise _refused(path, f"holds {_shown(name)!r}, a link or a device") from None
        raise _refused(path, f"{_shown(name)!r} cannot be read ({error.strerror})") from None
    if len(content) > MOST_FILE_BYTES:
        raise _too_large(path, name)
    return content


def _of_archive(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    try:
        with open(path, "rb") as file, _decompressed(file) as plain:
            bounded = _Bounded(plain, path)
            with tarfile.open(fileobj=bounded, mode="r|") as archive:
                yield from _members(path, archive, bounded, wanted)
    # tarfile reads headers upon headers by calling itself.
    except (
        tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError, ValueError, RecursionError
    ) as error:  # fmt: skip
        raise _refused(path, f"is no archive that can be read ({error})") from None


def _decompressed(file: BinaryIO) -> BinaryIO:
    """The bytes of the archive itself, by what the file starts with."""
    start = file.read(len(_XZ))
    file.seek(0)
    if start.startswith(_GZIP):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if start.startswith(_XZ):
        return cast(BinaryIO, lzma.LZMAFile(file))
    if start.startswith(_BZIP2):
        return cast(BinaryIO, bz2.BZ2File(file))
    return file


def _members(
    path: Path, archive: tarfile.TarFile, bounded: _Bounded, wanted: Wanted
) -> Iterator[tuple[str, bytes]]:
    for count, member in enumerate(archive):
        if count >= _MOST_MEMBERS:
            raise _refused(path, f"holds more than {_MOST_MEMBERS} files")
        bounded.allow(member.size)
        # tarfile keeps all members, for the random access that a stream does not have.
        cast(Any, archive).members.clear()
        name = member.name.removeprefix("./")
        if not wanted(name):
            continue
        if not member.isreg() or member.issparse():
            raise _refused(path, f"holds {_shown(name)!r}, a link or a device")
        if member.size > MOST_FILE_BYTES:
            raise _too_large(path, name)
        content = archive.extractfile(member)
        if content is not None:
            yield name, content.read()


class _Bounded(io.RawIOBase):
    """The unpacked bytes, as far as the members that were announced reach.

    tarfile reads a header's extensions whole into memory, whatever size they claim.
    """

    def __init__(self, source: _Readable, path: Path) -> None:
        self._source = source
        self._path = path
        self._left = _MOST_HEADER_BYTES
        self._total = 0

    def allow(self, size: int) -> None:
        """A member of `size` bytes comes next, and a header after it. Raises InputError."""
        self._total += size
        if self._total > _MOST_ARCHIVE_BYTES:
            raise _refused(self._path, f"unpacks to more than {_MOST_ARCHIVE_BYTES >> 30} GiB")
        # Header and padding come in blocks, which tarfile reads 20 at a time.
        self._left = max(self._left, 0) + size + _MOST_HEADER_BYTES

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """At most what is left; raises InputError beyond."""
        asked = self._left + 1 if size < 0 else min(size, self._left + 1)
        content = self._source.read(asked)
        self._left -= len(content)
        if self._left < 0:
            raise _refused(self._path, "has a header larger than any must-gather's")
        return content


def _too_large(path: Path, name: str) -> InputError:
    return _refused(path, f"{_shown(name)!r} is larger than {MOST_FILE_BYTES >> 20} MiB")


def _refused(path: Path, message: str) -> InputError:
    return InputError(message, where=str(path), remedy=_REMEDY)


def _shown(name: str) -> str:
    """The end of a long path, which tells more than its start."""
    return name if len(name) <= _LONGEST_SHOWN else f"…{name[-_LONGEST_SHOWN:]}"
