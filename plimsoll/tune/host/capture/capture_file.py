"""A capture as a file: a tar archive under gzip, which any system can look into."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from plimsoll.errors import InputError
from plimsoll.text.given_path import reason_of
from plimsoll.tune.host.capture.capture import Capture

MANIFEST = "manifest.json"
# Before the host's own absolute paths.
FILES = "files"
SUFFIXES = (".tar.gz", ".tgz")


def write_capture(capture: Capture, path: Path) -> None:
    """Write it to `path`, readable by its owner alone.

    Raises InputError for another suffix, for a file that is there already and for one that
    cannot be written.
    """
    if not path.name.endswith(SUFFIXES):
        raise InputError(
            "captures are written as tar archives under gzip",
            where=str(path),
            remedy=f"end the name with {SUFFIXES[0]}",
        )
    try:
        with open(path, "xb", opener=_private) as file:
            write_archive(capture, file)
    except FileExistsError:
        raise InputError(
            "is there already", where=str(path), remedy="choose another name"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be written: {reason_of(error)}", where=str(path), remedy="choose another place"
        ) from error


def write_archive(capture: Capture, file: IO[bytes]) -> None:
    """Write it to an open file, or a pipe. Raises OSError."""
    with tarfile.open(fileobj=file, mode="w|gz", format=tarfile.PAX_FORMAT) as archive:
        for name, text in _members(capture):
            content = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o644
            archive.addfile(member, io.BytesIO(content))


def _members(capture: Capture) -> Iterator[tuple[str, str]]:
    yield MANIFEST, capture.manifest.model_dump_json(indent=1)
    for path in sorted(capture.files):
        yield FILES + path, capture.files[path]


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
