"""Which directories below a folder are runs, or look as if they had been."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from plimsoll.errors import InputError
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
