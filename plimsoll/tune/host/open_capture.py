"""Opening a capture, which may come from anybody: nothing of it is unpacked onto a disk.

An archive holds regular files under the names that `plimsoll tune capture` gives. Links,
devices, names that lead elsewhere, and more than a capture can need are refused whole.
"""

from __future__ import annotations

import io
import lzma
import os
import stat
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.host.given_path import look_at
from plimsoll.tune.host.capture import MOST_BYTES, MOST_FILES, Capture, Manifest
from plimsoll.tune.host.capture_file import FILES, MANIFEST
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.live_host import LiveHost
from plimsoll.tune.host.rooted_files import MOST_FILE_BYTES
from plimsoll.tune.host.unpacked import Readable, ZstdError, unpacked

# A header and padding of 1 kB for each file come on top of the files.
_MOST_BYTES = 2 * MOST_BYTES
_LONGEST_NAME = 4096
_PIECE_BYTES = 1 << 16
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
_REMEDY = "make it with plimsoll tune capture"


def open_root(path: Path) -> HostView:
    """The host of a capture, an archive or unpacked; or of a whole root file system.

    An archive may be compressed by gzip, as captures are made, by bzip2, by xz, or not at all.
    A directory is a capture where it holds the manifest. Raises InputError for whatever is
    neither, and for captures that no honest tool makes.
    """
    found = look_at(path)
    if found is None:
        raise InputError("does not exist", where=str(path), remedy=_REMEDY)
    if stat.S_ISDIR(found.st_mode):
        if look_at(path / MANIFEST) is None:
            return _root_file_system(path)
        return _capture(path, _unpacked_members(path)).view(str(path))
    if not stat.S_ISREG(found.st_mode):
        raise _refused(path, "is neither a directory nor a regular file")
    return _capture(path, _archived_members(path)).view(str(path))


def _root_file_system(path: Path) -> HostView:
    if not any(_is_directory(path / top) for top in ("proc", "sys")):
        raise InputError(
            f"holds neither {MANIFEST} nor a host's proc and sys", where=str(path), remedy=_REMEDY
        )
    return LiveHost(path)


def _is_directory(path: Path) -> bool:
    found = look_at(path)
    return found is not None and stat.S_ISDIR(found.st_mode)


def _capture(path: Path, members: Iterator[tuple[str, bytes]]) -> Capture:
    manifest: Manifest | None = None
    files: dict[str, str] = {}
    seen: set[str] = set()
    for name, content in members:
        if name in seen:
            raise _refused(path, f"holds {name!r} twice")
        seen.add(name)
        if name == MANIFEST:
            manifest = _manifest(path, content)
        else:
            files[_host_path(path, name)] = content.decode(errors="replace")
    if manifest is None:
        raise _refused(path, f"holds no {MANIFEST}")
    return Capture(manifest, files)


def _manifest(path: Path, content: bytes) -> Manifest:
    try:
        return Manifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _refused(path, f"{MANIFEST}: {place}: {first['msg']}") from None


def _host_path(path: Path, name: str) -> str:
    """`files/proc/cmdline` is /proc/cmdline."""
    parts = name.split("/")
    if parts[0] != FILES or len(parts) < 2 or any(part in ("", ".", "..") for part in parts):
        raise _refused(path, f"holds {name[:80]!r}, which no capture does")
    return "/" + "/".join(parts[1:])


def _archived_members(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with unpacked(path) as content:
            bounded = _Bounded(content, path)
            with tarfile.open(fileobj=bounded, mode="r|") as archive:
                for count, member in enumerate(archive):
                    _check_member(path, member, count)
                    if member.isreg() and (file := archive.extractfile(member)) is not None:
                        # As `tar -C FOLDER -cJf x.tar.xz .` names them.
                        yield member.name.removeprefix("./"), file.read()
            # What is behind the tar's end has the checksum that tells whether all was whole.
            while bounded.read(_PIECE_BYTES):
                pass
    except ZstdError:
        raise InputError(
            "is under Zstandard, which is not read here",
            where=str(path),
            remedy="unpack it to a tar archive with unzstd",
        ) from None
    except _BROKEN as error:
        raise _refused(path, f"is no archive that can be read ({error})") from None


def _check_member(path: Path, member: tarfile.TarInfo, count: int) -> None:
    if count >= MOST_FILES:
        raise _refused(path, f"holds more than {MOST_FILES} files")
    if len(member.name) > _LONGEST_NAME:
        raise _refused(path, "holds a name of more than 4096 characters")
    if not (member.isreg() or member.isdir()) or member.issparse():
        raise _refused(path, f"holds {member.name[:80]!r}, a link or a device")
    if member.size > MOST_FILE_BYTES:
        raise _refused(path, f"{member.name[:80]!r} is larger than {MOST_FILE_BYTES >> 20} MiB")


class _Bounded(io.RawIOBase):
    """The unzipped bytes, up to what a capture can have: few zipped ones make terabytes."""

    def __init__(self, source: Readable, path: Path) -> None:
        self._source = source
        self._path = path
        self._left = _MOST_BYTES

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """At most what is left; raises InputError beyond."""
        asked = self._left + 1 if size < 0 else min(size, self._left + 1)
        content = self._source.read(asked)
        self._left -= len(content)
        if self._left < 0:
            raise _refused(self._path, f"unpacks to more than {_MOST_BYTES >> 20} MiB")
        return content


def _unpacked_members(path: Path) -> Iterator[tuple[str, bytes]]:
    total = 0
    for count, (name, place) in enumerate(_walk(path)):
        if count >= MOST_FILES:
            raise _refused(path, f"holds more than {MOST_FILES} files")
        content = _read_regular(path, place, name)
        total += len(content)
        if total > _MOST_BYTES:
            raise _refused(path, f"holds more than {_MOST_BYTES >> 20} MiB")
        yield name, content


def _walk(path: Path) -> Iterator[tuple[str, Path]]:
    yield MANIFEST, path / MANIFEST
    for folder, folders, names in os.walk(path / FILES):
        # os.walk does not enter links to directories, but would not tell of them.
        for name in [*names, *(each for each in folders if (Path(folder) / each).is_symlink())]:
            place = Path(folder) / name
            yield str(place.relative_to(path)), place


def _read_regular(path: Path, place: Path, name: str) -> bytes:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _refused(path, f"holds {name!r}, a link or a device")
            content = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        if place.is_symlink():
            raise _refused(path, f"holds {name!r}, a link or a device") from None
        raise _refused(path, f"{name!r} cannot be read ({error.strerror})") from None
    if len(content) > MOST_FILE_BYTES:
        raise _refused(path, f"{name!r} is larger than {MOST_FILE_BYTES >> 20} MiB")
    return content


def _refused(path: Path, message: str) -> InputError:
    return InputError(message, where=str(path), remedy=_REMEDY)
