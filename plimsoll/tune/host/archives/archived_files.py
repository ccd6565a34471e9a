"""The files of a tar archive that may come from anybody, none of them put onto a disk.

Links, devices and sparse files are refused, and so is more than the bounds say: of members, of
bytes, of headers, of memory that a compressed file's own header asks for.
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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, cast

from plimsoll.errors import InputError

# Whether a file of that path within the archive or folder is needed.
PathFilter = Callable[[str], bool]

_LONGEST_SHOWN = 80
_MIB, _GIB = 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True)
class ArchiveBounds:
    """`most_bytes` are of all files together, `most_file_bytes` of one that is needed.

    `most_header_bytes` are of everything else in an archive: a few compressed bytes make a
    million names, and reading those takes a hundred times as long as reading as many bytes of
    a file. `remedy` is what to do with what is beyond.
    """

    most_members: int
    most_bytes: int
    most_file_bytes: int
    most_header_bytes: int
    remedy: str

    def refused(self, path: Path, message: str) -> InputError:
        """The error for `path`."""
        return InputError(message, where=str(path), remedy=self.remedy)

    def too_many(self, path: Path) -> InputError:
        """More members than `most_members`."""
        return self.refused(path, f"holds more than {self.most_members} files")

    def too_large(self, path: Path, name: str) -> InputError:
        """A file of more than `most_file_bytes`."""
        size = size_text(self.most_file_bytes)
        return self.refused(path, f"{shown_name(name)!r} is larger than {size}")

    def no_regular_file(self, path: Path, name: str) -> InputError:
        """A link, a device, a pipe where a file was expected."""
        return self.refused(path, f"holds {shown_name(name)!r}, a link or a device")


def shown_name(name: str) -> str:
    """The end of a long path, which says more than its start."""
    return name if len(name) <= _LONGEST_SHOWN else f"…{name[-_LONGEST_SHOWN:]}"


def size_text(size: int) -> str:
    """A bound for people: 256 MiB, 32 GiB."""
    return f"{size // _GIB} GiB" if size >= _GIB else f"{size // _MIB} MiB"


_LONGEST_NAME = 4096
_PIECE_BYTES = 1 << 16
_BLOCK_BYTES = 512
# One member's header with its extensions and padding, or what is behind the last: tarfile reads
# 20 blocks at a time, and tar fills the last 20.
_MAX_HEADER_BYTES = 1 << 20
# Records of a member's extended header (POSIX pax): its name and times and a few of SELinux and
# extended attributes. Millions of them take minutes to read.
_MAX_RECORDS = 64
# tarfile reads headers upon headers by calling itself.
_BROKEN = (
    tarfile.TarError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    ValueError,
    RecursionError,
)
_GZIP, _BZIP2, _XZ, _ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
_LONGEST_MAGIC = 6
# `xz -9` takes 65 MiB; a header may ask for 4 GiB.
_XZ_MEMORY_BYTES = 128 << 20


def archived_files(
    path: Path, bounds: ArchiveBounds, is_needed: PathFilter
) -> Iterator[tuple[str, bytes]]:
    """(path within it, content) of each file that `is_needed`, in the archive's order.

    It may be under gzip, bzip2 or xz, or not compressed. Raises InputError for what is not such
    an archive, for a needed path that is not a regular file and for what is beyond the bounds.
    """
    with refusing_broken(path, bounds):
        for name, content in _opened(path, bounds, is_needed):
            yield name, content.read()


def open_archived(
    path: Path, bounds: ArchiveBounds, is_needed: PathFilter
) -> Iterator[tuple[str, IO[bytes]]]:
    """The same with each content still to be read, before the next is taken.

    Raises as `archived_files`; a caller that reads a content does so within `refusing_broken`.
    """
    with refusing_broken(path, bounds):
        yield from _opened(path, bounds, is_needed)


@contextmanager
def refusing_broken(path: Path, bounds: ArchiveBounds) -> Iterator[None]:
    """Raise InputError for what reading a broken archive raises."""
    try:
        yield
    except ZstdError:
        raise InputError(
            "is under Zstandard, which is not read here",
            where=str(path),
            remedy="unpack it to a tar archive with unzstd",
        ) from None
    except _BROKEN as error:
        raise bounds.refused(path, f"is not a readable archive ({error})") from None


def _opened(
    path: Path, bounds: ArchiveBounds, is_needed: PathFilter
) -> Iterator[tuple[str, IO[bytes]]]:
    with unpacked(path) as content:
        bounded = _Bounded(content, path, bounds)
        with tarfile.open(fileobj=bounded, mode="r|") as archive:
            yield from _files(path, archive, bounded, is_needed)
        # What is behind the tar's end has the checksum that tells whether all was whole.
        while bounded.read(_PIECE_BYTES):
            pass


def _files(
    path: Path, archive: tarfile.TarFile, bounded: _Bounded, is_needed: PathFilter
) -> Iterator[tuple[str, IO[bytes]]]:
    bounds = bounded.bounds
    for count, member in enumerate(archive):
        if count >= bounds.most_members:
            raise bounds.too_many(path)
        bounded.allow(member.size)
        # tarfile keeps all members, for the random access that a stream does not have.
        cast(Any, archive).members.clear()
        if len(member.name) > _LONGEST_NAME:
            raise bounds.refused(path, f"holds a name of more than {_LONGEST_NAME} characters")
        if len(member.pax_headers) > _MAX_RECORDS:
            raise bounds.refused(path, f"holds a file with more than {_MAX_RECORDS} attributes")
        # As `tar -C FOLDER -cJf x.tar.xz .` names them.
        name = member.name.removeprefix("./")
        if member.isdir() or not is_needed(name):
            continue
        if not member.isreg() or member.issparse():
            raise bounds.no_regular_file(path, name)
        if member.size > bounds.most_file_bytes:
            raise bounds.too_large(path, name)
        content = archive.extractfile(member)
        if content is not None:
            yield name, content


class _Bounded(io.RawIOBase):
    """The unpacked bytes, as far as the members that were announced reach.

    tarfile reads a header's extensions whole into memory, whatever size they claim, and few
    compressed bytes make terabytes.
    """

    def __init__(self, source: Readable, path: Path, bounds: ArchiveBounds) -> None:
        self.bounds = bounds
        self._source = source
        self._path = path
        self._left = _MAX_HEADER_BYTES
        self._read = 0
        self._announced = 0

    def allow(self, size: int) -> None:
        """A member of `size` bytes comes next, and a header after it. Raises InputError."""
        # What was read so far, less the files before this one, were headers.
        if self._read - self._announced > self.bounds.most_header_bytes:
            most = size_text(self.bounds.most_header_bytes)
            raise self.bounds.refused(self._path, f"has more than {most} of names and headers")
        self._announced += -(-size // _BLOCK_BYTES) * _BLOCK_BYTES
        if self._announced > self.bounds.most_bytes:
            most = size_text(self.bounds.most_bytes)
            raise self.bounds.refused(self._path, f"unpacks to more than {most}")
        self._left = size + _MAX_HEADER_BYTES

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """At most what is left; raises InputError beyond."""
        requested = self._left + 1 if size < 0 else min(size, self._left + 1)
        content = self._source.read(requested)
        self._left -= len(content)
        self._read += len(content)
        if self._left < 0:
            most = size_text(_MAX_HEADER_BYTES)
            raise self.bounds.refused(self._path, f"has more than {most} that is of no file")
        return content


# The bytes of an archive, whatever it is compressed by, and no more of them than requested.
#
# A file's compression is recognised by its first bytes, not by its name.
class Readable(Protocol):
    """What bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, none at the end."""


class ZstdError(Exception):
    """The file is under Zstandard, which Python reads from 3.14 on."""


@contextmanager
def unpacked(path: Path) -> Iterator[Readable]:
    """The file's bytes, those under gzip, bzip2 or xz unpacked as they are read.

    Raises OSError, and ZstdError; reading raises OSError, EOFError, zlib.error and
    lzma.LZMAError for what is broken.
    """
    with path.open("rb") as file:
        magic = file.read(_LONGEST_MAGIC)
        file.seek(0)
        if magic.startswith(_ZSTD):
            raise ZstdError
        yield _reader(file, magic)


def _reader(file: BinaryIO, magic: bytes) -> Readable:
    if magic.startswith(_GZIP):
        return gzip.GzipFile(fileobj=file)
    if magic.startswith(_BZIP2):
        return bz2.BZ2File(file)
    return _Xz(file) if magic.startswith(_XZ) else file


class _Xz:
    """As lzma.LZMAFile, with a bound on the memory that the file's header may ask for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; raises EOFError where the file ends too early."""
        found = b""
        while not found and not self._decompressor.eof:
            piece = self._file.read(_PIECE_BYTES) if self._decompressor.needs_input else b""
            if self._decompressor.needs_input and not piece:
                raise EOFError("it ends too early")
            found = self._decompressor.decompress(piece, size)
        return found


def folder_files(
    path: Path, bounds: ArchiveBounds, is_needed: PathFilter
) -> Iterator[tuple[str, bytes]]:
    """(path within it, content) of each file that `is_needed`, in the order of their names.

    A link to a folder counts as a file, which it is refused as where it is needed. Raises
    InputError for a needed path that is not a regular file or cannot be read, and for what is
    beyond the bounds.
    """
    total = 0
    for count, (name, place) in enumerate(_walk(path)):
        if count >= bounds.most_members:
            raise bounds.too_many(path)
        if not is_needed(name):
            continue
        content = _read_regular(path, place, name, bounds)
        total += len(content)
        if total > bounds.most_bytes:
            raise bounds.refused(path, f"holds more than {size_text(bounds.most_bytes)}")
        yield name, content


def _walk(path: Path) -> Iterator[tuple[str, Path]]:
    for folder, folders, names in os.walk(path):
        folders.sort()
        # os.walk does not enter links to directories, but would not tell of them.
        linked = [each for each in folders if (Path(folder) / each).is_symlink()]
        for name in sorted([*names, *linked]):
            place = Path(folder) / name
            yield place.relative_to(path).as_posix(), place


def _read_regular(path: Path, place: Path, name: str, bounds: ArchiveBounds) -> bytes:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise bounds.no_regular_file(path, name)
            content = file.read(bounds.most_file_bytes + 1)
    except OSError as error:
        if place.is_symlink():
            raise bounds.no_regular_file(path, name) from None
        message = f"{shown_name(name)!r} cannot be read ({error.strerror})"
        raise bounds.refused(path, message) from None
    if len(content) > bounds.most_file_bytes:
        raise bounds.too_large(path, name)
    return content
