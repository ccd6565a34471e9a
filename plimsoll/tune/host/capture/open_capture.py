"""Opening a capture, which may come from anybody: nothing of it is unpacked onto a disk.

An archive holds regular files under the names that `plimsoll tune capture` gives. Links,
devices, names that lead elsewhere, and more than a capture can need are refused whole.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.text.given_path import look_at
from plimsoll.tune.host.archives.archive_bounds import ArchiveBounds
from plimsoll.tune.host.archives.archived_files import archived_files
from plimsoll.tune.host.archives.folder_files import folder_files
from plimsoll.tune.host.capture.capture import MOST_BYTES, MOST_FILES, Capture, CaptureManifest
from plimsoll.tune.host.capture.capture_file import FILES, MANIFEST
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.host.view.rooted_files import MOST_FILE_BYTES

# The manifest has as much again as the files.
_MOST_BYTES = 2 * MOST_BYTES
# Half a kB for each file, and as much again for names of more than 100 characters.
_MOST_HEADER_BYTES = 64 << 20
# The deepest path of sysfs that is read has some fifteen.
_MOST_PARTS = 64
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
    manifest: CaptureManifest | None = None
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


def _manifest(path: Path, content: bytes) -> CaptureManifest:
    try:
        return CaptureManifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _refused(path, f"{MANIFEST}: {place}: {first['msg']}") from None


def _host_path(path: Path, name: str) -> str:
    """`files/proc/cmdline` is /proc/cmdline."""
    parts = name.split("/")
    odd = len(parts) > _MOST_PARTS or any(part in ("", ".", "..") for part in parts)
    if parts[0] != FILES or len(parts) < 2 or odd:
        raise _refused(path, f"holds {name[:80]!r}, which no capture does")
    return "/" + "/".join(parts[1:])


def _archived_members(path: Path) -> Iterator[tuple[str, bytes]]:
    return archived_files(path, _bounds(), lambda _: True)


def _unpacked_members(path: Path) -> Iterator[tuple[str, bytes]]:
    return folder_files(path, _bounds(), lambda name: name.split("/")[0] in (MANIFEST, FILES))


def _bounds() -> ArchiveBounds:
    return ArchiveBounds(
        most_members=MOST_FILES,
        most_bytes=_MOST_BYTES,
        most_file_bytes=MOST_FILE_BYTES,
        most_header_bytes=_MOST_HEADER_BYTES,
        remedy=_REMEDY,
    )


def _refused(path: Path, message: str) -> InputError:
    return InputError(message, where=str(path), remedy=_REMEDY)
