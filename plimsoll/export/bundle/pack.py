"""Writing a bundle: a tar archive under gzip, the same bytes each time for the same run."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path
from typing import BinaryIO

from plimsoll.errors import InputError
from plimsoll.export.bundle.manifest import MANIFEST, RUN_ID, BundledFile, BundleManifest
from plimsoll.export.output_file import refuse_existing, unwritable
from plimsoll.record.files.file_sum import FileSum
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.removal_plan import check_is_over
from plimsoll.record.index.run_files import run_files
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.run.file_check import check_run, first_error
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.version import VERSION

SUFFIX = ".plimsoll.tar.gz"
_MODE = 0o640


def check_bundled(run: RunDirectory) -> None:
    """Raise InputError where the run is going on, RecordError where it is not as recorded."""
    check_is_over(run.path)
    for path in (run.path, *part_paths(run.path)):
        # What is not listed does not go into it.
        error = first_error(check_run(RunDirectory(path), unlisted=False))
        if error is not None:
            raise error


def write_bundle(run: RunDirectory, path: Path, *, redacted: bool, force: bool) -> BundleManifest:
    """Write the run's own files to `path`, whole or not at all, and return what is in it.

    Names of users and groups, and times of files, do not go into it. Raises InputError where
    `path` exists and `force` does not say to replace it, and RecordError for a file that
    cannot be read.
    """
    refuse_existing(path, force=force)
    manifest = _manifest(run, redacted=redacted)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("xb") as file:
            _write(file, run, manifest)
            file.flush()
            os.fsync(file.fileno())
        refuse_existing(path, force=force)
        unfinished.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return manifest


def _manifest(run: RunDirectory, *, redacted: bool) -> BundleManifest:
    if RUN_ID.fullmatch(run.run_id) is None:
        raise InputError(
            "the name of this run directory cannot be that of a bundle",
            where=str(run.path),
            remedy="rename it to letters, digits, . _ and -",
        )
    files = []
    for path in run_files(run):
        try:
            found = FileSum.of(path)
        except OSError as error:
            raise RecordError(
                f"cannot be read: {error.strerror or error}", where=str(path), remedy="check it"
            ) from error
        name = path.relative_to(run.path).as_posix()
        files.append(BundledFile(path=name, bytes=found.end, sha256=found.sha256))
    return BundleManifest(
        plimsoll=VERSION, run_id=run.run_id, redacted=redacted, files=tuple(files)
    )


def _write(file: BinaryIO, run: RunDirectory, manifest: BundleManifest) -> None:
    # A time in gzip's header, and the archive's own name, would make each bundle another.
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        content = manifest.model_dump_json(indent=1).encode()
        archive.addfile(_member(f"{run.run_id}/{MANIFEST}", len(content)), io.BytesIO(content))
        for each in manifest.files:
            with (run.path / each.path).open("rb") as source:
                archive.addfile(_member(f"{run.run_id}/{each.path}", each.bytes), source)


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, _MODE
    return member
