"""The folder that files are rendered into, and what in it belongs to others.

A record of what was written (`.plimsoll-render.json`: path and SHA-256) tells the files of an
earlier rendering from those that are not ours, or that someone has changed since.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from plimsoll.errors import InputError
from plimsoll.text.given_path import read_regular_file, reason_of
from plimsoll.tune.render.files.rendered_file import RenderedFile

RECORD = ".plimsoll-render.json"
_MAX_MIB = 16


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    files: dict[str, str]


@dataclass(frozen=True, slots=True)
class Written:
    """`left` are files of an earlier rendering that this one does not have."""

    paths: tuple[str, ...]
    left: tuple[str, ...]


def write_files(folder: Path, files: Sequence[RenderedFile], *, force: bool = False) -> Written:
    """Write all files, each whole or not at all; none where one may not be.

    Raises InputError for files in the way that are not an earlier rendering's, unless
    `force`, and always for links and for what cannot be written.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise InputError(
                "is not a folder", where=str(folder), remedy="name a folder with --output"
            )
        earlier = _read_record(folder)
        _check_places(folder, files)
        if not force:
            _check_own(folder, files, earlier)
        for file in files:
            _write(folder / file.path, file.text, file.mode)
        hashes = {file.path: _hash(file.text.encode()) for file in files}
        left = tuple(path for path in earlier if path not in hashes and _exists(folder, path))
        kept = {path: earlier[path] for path in left}
        _write(folder / RECORD, _Record(files=hashes | kept).model_dump_json(indent=1) + "\n")
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be written: {reason_of(error)}",
            where=str(getattr(error, "filename", None) or folder),
            remedy="name another folder with --output",
        ) from None
    return Written(tuple(file.path for file in files), left)


def _read_record(folder: Path) -> Mapping[str, str]:
    try:
        content = read_regular_file(folder / RECORD, _MAX_MIB, "remove it")
        return _Record.model_validate(json.loads(content)).files
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, ValidationError, RecursionError):
        # If it was changed, it does not say whose the files are.
        return {}


def _exists(folder: Path, path: str) -> bool:
    """Only of a path that could be ours; the record may be anybody's."""
    parts = Path(path).parts
    inside = bool(parts) and not Path(path).is_absolute() and ".." not in parts
    return inside and path.isprintable() and (folder / path).is_file()


def _check_places(folder: Path, files: Sequence[RenderedFile]) -> None:
    """A link in the way could lead anywhere; the folder itself may be one."""
    for file in files:
        for place in (folder / file.path, *(folder / file.path).parents):
            if place == folder:
                break
            if place.is_symlink() or (place.exists() and not _fits(place, folder / file.path)):
                raise InputError(
                    "is in the way: a link, or no file where one goes",
                    where=str(place),
                    remedy="remove it, or name another folder with --output",
                )


def _fits(place: Path, file: Path) -> bool:
    return stat.S_ISREG(place.stat().st_mode) if place == file else place.is_dir()


def _check_own(folder: Path, files: Sequence[RenderedFile], earlier: Mapping[str, str]) -> None:
    foreign = [file.path for file in files if _is_foreign(folder, file, earlier)]
    if foreign:
        message = ", ".join(foreign[:5]) + (", …" if len(foreign) > 5 else "")
        raise InputError(
            f"holds {message}, not as an earlier rendering left it",
            where=str(folder),
            remedy="name an empty folder with --output, or overwrite with --force",
        )


def _is_foreign(folder: Path, file: RenderedFile, earlier: Mapping[str, str]) -> bool:
    try:
        content = (folder / file.path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return content != file.text.encode() and _hash(content) != earlier.get(file.path)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(place: Path, text: str, mode: int = 0o644) -> None:
    """Next to its place first, so that readers see the old file or the new one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=".plimsoll-")
    try:
        with open(descriptor, "wb") as file:
            file.write(text.encode())
            os.fchmod(file.fileno(), mode)
        os.replace(name, place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
