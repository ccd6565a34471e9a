"""The files of a run that are its own: what a copy of it has to have, and how large it is."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.run.listed_files import ListedFiles, unlisted_names
from plimsoll.record.run.run_directory import RunDirectory

_FOLDERS = re.compile(r"audits|metrics|charts|tables|causes|flows|scrapes|probes")
_PART = re.compile(r"iteration-\d{1,6}(/sample-\d{1,6})?")
_FILES = re.compile(
    r"experiment\.yaml|environment\.json|audit\.json|journal\.jsonl|histograms\.hlog"
    r"|spikes\.parquet|result\.json|report\.html|notes\.json|matrix\.json"
)
_IN_FOLDERS = re.compile(r"[A-Za-z0-9@][A-Za-z0-9@._+-]{0,200}\.(json|parquet|svg|png|csv|gz)")


def is_run_file(name: str) -> bool:
    """Whether a run has a file of this path in its directory, with slashes.

    Locks, the summary, and what a trial that goes on has written are none: they are of the
    place, not of the record.
    """
    folder, _, file = name.rpartition("/")
    within, _, last = folder.rpartition("/")
    if _FOLDERS.fullmatch(last) and (not within or _PART.fullmatch(within)):
        return _IN_FOLDERS.fullmatch(file) is not None
    return (not folder or _PART.fullmatch(folder) is not None) and bool(_FILES.fullmatch(file))


def run_files(run: RunDirectory) -> Iterator[Path]:
    """All of them, by name, but what a run's journal does not list. Links are not followed.

    Raises RecordError.
    """
    foreign = {
        each / name
        for each in (run.path, *part_paths(run.path))
        for name in unlisted_names(ListedFiles.of(RunDirectory(each)))
    }
    for folder, folders, names in os.walk(run.path, onerror=_raise):
        folders.sort()
        for name in sorted(names):
            path = Path(folder) / name
            regular = path.is_file() and not path.is_symlink()
            own = is_run_file(path.relative_to(run.path).as_posix()) and path not in foreign
            if regular and own:
                yield path


def _raise(error: OSError) -> None:
    raise RecordError(
        f"cannot be read: {error.strerror or error}",
        where=str(error.filename),
        remedy="make the directory readable for you",
    ) from error


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
