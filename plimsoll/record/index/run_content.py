"""What a run directory holds, and how large it is."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import Literal

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.run_directory import RunDirectory


@dataclass(frozen=True, slots=True)
class RunFile:
    """One name in a run directory. A folder has the bytes of the `files` in it, at any depth."""

    name: str
    kind: Literal["file", "folder", "link", "other"]
    bytes: int
    files: int


def content_of(run: RunDirectory) -> list[RunFile]:
    """By name. Links are not followed, and what cannot be looked into counts as empty.

    Raises RecordError where the directory itself cannot be read.
    """
    try:
        names = sorted(os.listdir(run.path))
    except OSError as error:
        raise RecordError(
            f"cannot be read: {error.strerror or error}",
            where=str(run.path),
            remedy="make the directory readable for you",
        ) from error
    return [_file(os.path.join(run.path, name), name) for name in names]


def _file(path: str, name: str) -> RunFile:
    try:
        found = os.lstat(path)
    except OSError:
        return RunFile(name, "other", 0, 0)
    if stat.S_ISDIR(found.st_mode):
        sizes = [size for folder, _, files in os.walk(path) for size in _sizes(folder, files)]
        return RunFile(name, "folder", sum(sizes), len(sizes))
    if stat.S_ISLNK(found.st_mode):
        return RunFile(name, "link", found.st_size, 1)
    kind: Literal["file", "other"] = "file" if stat.S_ISREG(found.st_mode) else "other"
    return RunFile(name, kind, found.st_size, 1)


def _sizes(folder: str, names: list[str]) -> list[int]:
    sizes = []
    for name in names:
        try:
            sizes.append(os.lstat(os.path.join(folder, name)).st_size)
        except OSError:
            continue
    return sizes
