"""Reading a bundle that may come from anybody: all of it is right, or nothing is imported.

Only regular files that a run has, named in the bundle's own list, with the size and checksum
that it says; everything else is refused. They are written into a hidden folder first, which
becomes the run by one renaming, so that a kill leaves no half run.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from plimsoll.errors import InputError, MachineError
from plimsoll.export.bundle.pack import (
    MANIFEST,
    MAX_FILES,
    BundledFile,
    BundleManifest,
    parse_manifest,
)
from plimsoll.export.output_file import new_folders
from plimsoll.record.files.record_error import RecordError, write_failed
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.run.file_check import check_run
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.tune.host.archives.archived_files import (
    ArchiveBounds,
    open_archived,
    refusing_broken,
    shown_name,
    size_text,
)

_BOUNDS = ArchiveBounds(
    most_members=MAX_FILES + 1,
    most_bytes=64 << 30,
    most_file_bytes=16 << 30,
    most_header_bytes=256 << 20,
    remedy="get the bundle again from who made it",
)
_MAX_MANIFEST_BYTES = 64 << 20
_PIECE_BYTES = 1 << 20
# Of runs, journals are compressed the most, to a twentieth; small ones may have any ratio.
_MAX_RATIO = 100
_SMALL_BYTES = 64 << 20
_STAGING = re.compile(r"\.plimsoll-import-[0-9a-f]{16}")


def import_bundle(path: Path, runs_root: Path) -> tuple[RunDirectory, BundleManifest]:
    """Make `<runs_root>/<run id>` of the bundle at `path`.

    Raises InputError for what is not such a bundle and where the run is there already,
    MachineError where there is no room for it, and RecordError where it cannot be written or its
    record is damaged.
    """
    try:
        with new_folders(runs_root):
            remove_leftovers(runs_root)
            with _staging(runs_root) as folder:
                manifest = _unpack(path, folder)
                _check(path, folder)
                target = runs_root / manifest.run_id
                _publish(folder, target)
    except OSError as error:
        raise write_failed(runs_root, error) from error
    return RunDirectory(target), manifest


def remove_leftovers(runs_root: Path) -> None:
    """Delete what imports that were killed have left; those that go on hold a lock."""
    for path in sorted(runs_root.iterdir()):
        if _STAGING.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            with suppress(OSError):
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path)
                finally:
                    os.close(descriptor)


@contextmanager
def _staging(runs_root: Path) -> Iterator[Path]:
    """A hidden folder, locked while it is filled, and gone afterwards."""
    path = runs_root / f".plimsoll-import-{secrets.token_hex(8)}"
    try:
        path.mkdir(0o750)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise write_failed(path, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def _unpack(path: Path, folder: Path) -> BundleManifest:
    manifest: BundleManifest | None = None
    missing: dict[str, BundledFile] = {}
    for name, content in open_archived(path, _BOUNDS, lambda _: True):
        if manifest is None:
            manifest = _first(path, name, content)
            _check_size(path, manifest, folder)
            missing = {f"{manifest.run_id}/{each.path}": each for each in manifest.files}
            continue
        listed = missing.pop(name, None)
        if listed is None:
            raise _refused(path, f"holds {shown_name(name)!r} twice, or it is not in its list")
        _write(path, content, folder / listed.path, listed)
    if manifest is None:
        raise _refused(path, "is empty")
    if missing:
        raise _refused(path, f"lacks {shown_name(next(iter(missing)))!r}, which is in its list")
    return manifest


def _check_size(path: Path, manifest: BundleManifest, folder: Path) -> None:
    """Before any of it is unpacked: few compressed bytes make many, which would fill the disk."""
    size = sum(each.bytes for each in manifest.files)
    if size > max(_SMALL_BYTES, _MAX_RATIO * path.stat().st_size):
        raise _refused(path, f"unpacks to more than {_MAX_RATIO} times its size")
    free = shutil.disk_usage(folder).free
    if size > free:
        raise MachineError(
            f"unpacks to {size_text(size)}, and {size_text(free)} are free",
            where=str(path),
            remedy="import it into another folder with --runs",
        )


def _first(path: Path, name: str, content: IO[bytes]) -> BundleManifest:
    folder, _, file = name.partition("/")
    if file != MANIFEST:
        raise _refused(path, f"does not begin with a {MANIFEST}: it is not a bundle of a run")
    with refusing_broken(path, _BOUNDS):
        found = content.read(_MAX_MANIFEST_BYTES + 1)
    if len(found) > _MAX_MANIFEST_BYTES:
        raise _refused(path, f"its list is larger than {size_text(_MAX_MANIFEST_BYTES)}")
    manifest = parse_manifest(found, str(path))
    if manifest.run_id != folder:
        raise _refused(path, "is called otherwise than the run in its list")
    return manifest


def _write(path: Path, content: IO[bytes], target: Path, listed: BundledFile) -> None:
    digest, size = hashlib.sha256(), 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while piece := _piece(path, content):
                size += len(piece)
                if size > listed.bytes:
                    break
                digest.update(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise write_failed(target, error) from error
    if size != listed.bytes or digest.hexdigest() != listed.sha256:
        raise _refused(path, f"{listed.path!r} is not as its list says (SHA-256)")


def _piece(path: Path, content: IO[bytes]) -> bytes:
    with refusing_broken(path, _BOUNDS):
        return content.read(_PIECE_BYTES)


def _check(path: Path, folder: Path) -> None:
    """The record itself: its journal, and its files by the journal's checksums."""
    try:
        for run in (folder, *part_paths(folder)):
            damage = next(check_run(RunDirectory(run)), None)
            if damage is not None:
                place = damage.path.relative_to(folder)
                raise _refused(path, f"the record in it is damaged: {place} {damage.reason}")
    except RecordError as error:
        raise _refused(path, f"the record in it is damaged: {error.message}") from None


def _publish(folder: Path, target: Path) -> None:
    if os.path.lexists(target):
        raise InputError(
            "there is a run of this name already",
            where=str(target),
            remedy="import it into another folder with --runs, or remove that run",
        )
    try:
        for place, _, _ in os.walk(folder):
            _sync(Path(place))
        folder.rename(target)
        _sync(target.parent)
    except OSError as error:
        raise write_failed(target, error) from error


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refused(path: Path, message: str) -> InputError:
    return _BOUNDS.refused(path, message)
