"""Which directories are runs, which of their files are theirs, and how large these are."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.listed_files import ListedFiles, unlisted_names
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.plain_text import plain_text

# As RunDirectory.create names them.
RUN_ID = re.compile(r"\d{8}T\d{6}-.+", re.DOTALL)
# Of times in ns since the epoch: the year 2262, of which a date can still be made.
LATEST_NS = 2**63
_NS_PER_S = 10**9
# What no other directory is likely to hold.
_MARKS = ("experiment.yaml", "journal.jsonl", "summary.json")


def run_paths(runs_root: Path) -> list[Path]:
    """The runs directly below `runs_root`, damaged ones included, by name.

    Hidden directories, files, and directories that have nothing of a run are left out.
    Raises InputError where the folder cannot be read.
    """
    try:
        with os.scandir(runs_root) as entries:
            names = sorted(each.name for each in entries if _may_be_run(each))
    except OSError as error:
        raise _unreadable(runs_root, error) from error
    return [runs_root / name for name in names if looks_like_run(runs_root / name)]


def looks_like_run(path: Path) -> bool:
    """Whether it is called like a run, or holds a part of one, or cannot be looked into."""
    if RUN_ID.fullmatch(path.name):
        return True
    return any(_exists(path / mark) for mark in _MARKS)


def part_paths(run: Path) -> Iterator[Path]:
    """The runs that a matrix run is made of, in order; none of any other run.

    They lie where `plimsoll matrix` puts them: iteration-0001/sample-1.
    """
    for iteration in _numbered(run, "iteration-"):
        for sample in _numbered(iteration, "sample-"):
            if _exists(sample / _MARKS[0]) or _exists(sample / _MARKS[1]):
                yield sample


def time_in_id(run_id: str) -> int | None:
    """When the run was made by its id (UTC, ns since the epoch); None where it does not say."""
    if RUN_ID.fullmatch(run_id) is None:
        return None
    try:
        made = datetime.strptime(run_id[:15], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return max(0, round(made.timestamp())) * _NS_PER_S


def _may_be_run(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith("."):
        return False
    return entry.is_dir(follow_symlinks=False) or entry.is_symlink()


def _exists(path: Path) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # It cannot be determined, which the user should know.
        return True
    return True


def _numbered(folder: Path, prefix: str) -> list[Path]:
    """Real subfolders called `prefix` and a number, by number; none where that is not known."""
    found: list[tuple[int, Path]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                number = entry.name.removeprefix(prefix)
                named = entry.name.startswith(prefix) and number.isascii() and number.isdecimal()
                if named and len(number) <= 6 and entry.is_dir(follow_symlinks=False):
                    found.append((int(number), folder / entry.name))
    except OSError:
        return []
    return [path for _, path in sorted(found)]


def _unreadable(runs_root: Path, error: OSError) -> InputError:
    return InputError(
        f"there are no runs to read here: {error.strerror or error}",
        where=plain_text(str(runs_root)),
        remedy="name the folder of your runs with --runs, or start a run",
    )


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
