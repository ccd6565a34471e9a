"""Writing a bundle: a tar archive under gzip, the same bytes each time for the same run."""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from plimsoll.errors import InputError
from plimsoll.export.output_file import refuse_existing, unwritable
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.whole_file import FileSum
from plimsoll.record.index.removal import check_is_over
from plimsoll.record.index.run_files import is_run_file, run_files
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.run.file_check import check_run, first_error
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.version import VERSION

MANIFEST = "plimsoll-bundle.json"
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
MAX_FILES = 100_000


class BundledFile(BaseModel):
    """One file of the run, by its path in the run directory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class BundleManifest(BaseModel):
    """`redacted` says that names and addresses are stand-ins; `plimsoll` is who wrote it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["plimsoll-bundle"] = "plimsoll-bundle"
    version: Literal[1] = 1
    plimsoll: Annotated[str, Field(max_length=64)]
    run_id: Annotated[str, Field(pattern=f"^{RUN_ID.pattern}$")]
    redacted: bool
    files: Annotated[tuple[BundledFile, ...], Field(max_length=MAX_FILES)]


def parse_manifest(content: bytes, where: str) -> BundleManifest:
    """Read it. Raises InputError for what no `plimsoll export` has bundled."""
    try:
        manifest = BundleManifest.model_validate_json(content)
    except ValidationError as error:
        reason = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, reason["loc"])) or "the document"
        raise _refused(where, f"{place}: {reason['msg']}") from None
    paths = [each.path for each in manifest.files]
    if len(set(paths)) < len(paths):
        raise _refused(where, "a file is in it twice")
    foreign = next((path for path in paths if not is_run_file(path)), None)
    if foreign is not None:
        raise _refused(where, f"{foreign[:200]!r} is not a file of a run")
    missing = {"experiment.yaml", "journal.jsonl"}.difference(paths)
    if missing:
        raise _refused(where, f"it has no {' and no '.join(sorted(missing))}")
    return manifest


def _refused(where: str, reason: str) -> InputError:
    return InputError(
        f"its {MANIFEST} cannot be used: {reason}",
        where=where,
        remedy="bundle the run again with plimsoll export --format bundle, or use the version "
        "that wrote it",
    )


SUFFIX = ".plimsoll.tar.gz"
_MODE = 0o640


def check_bundled(run: RunDirectory) -> None:
    """Raise InputError where the run is still running, RecordError where it is not as recorded."""
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
