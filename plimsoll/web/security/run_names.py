"""Runs and their files by names from outside: nothing else on the disk is reached by them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.index.run_paths import looks_like_run
from plimsoll.text.plain_text import plain_text

# A run of the folder, or a part of a matrix run.
_RUN = re.compile(r"(?P<run>[^/\0]+)(?P<part>/iteration-\d{1,6}/sample-\d{1,6})?")
_MAX_FILES = 5_000
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class ArtefactFile:
    """A file of a run: its path below the run directory, with slashes, and its size in bytes."""

    name: str
    bytes: int


def named_run(runs_root: Path, name: str) -> RunEntry:
    """The run of that id, as lists give it. Raises InputError where there is none."""
    match = _RUN.fullmatch(name)
    path = runs_root / name
    if match is None or match["run"].startswith(".") or not looks_like_run(path):
        raise _no_run(name)
    # As in lists: a run may be a link that the user has made, its parts may not.
    linked = match["part"] is not None and (path.is_symlink() or path.parent.is_symlink())
    if linked or not path.is_dir():
        raise _no_run(name)
    return entry_of(name, path)


def artefacts(run: Path) -> list[ArtefactFile]:
    """All regular files of a run by name, at most some thousand; links are left out."""
    found: list[ArtefactFile] = []
    for each in _walked(run):
        if len(found) == _MAX_FILES:
            break
        found.append(each)
    return sorted(found, key=lambda each: (each.name.count("/"), each.name))


def open_artefact(run: Path, name: str) -> BinaryIO:
    """A regular file of the run, for reading. No link is followed on the way, wherever it leads.

    Raises InputError where there is no such file.
    """
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise _no_file(name)
    folder = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            below = os.open(part, _OPEN | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = below
        file = os.open(parts[-1], _OPEN, dir_fd=folder)
    except (OSError, ValueError):
        raise _no_file(name) from None
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _no_file(name)
    return os.fdopen(file, "rb")


def _walked(run: Path) -> Iterator[ArtefactFile]:
    for folder, _, names in os.walk(run, followlinks=False):
        for name in names:
            path = Path(folder, name)
            try:
                found = path.lstat()
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode):
                yield ArtefactFile(path.relative_to(run).as_posix(), found.st_size)


def _no_run(name: str) -> InputError:
    return InputError(
        "there is no such run",
        where=plain_text(name, 80),
        remedy="choose one from the list of runs",
    )


def _no_file(name: str) -> InputError:
    return InputError(
        "there is no such file in this run",
        where=plain_text(name, 80),
        remedy="choose one from the run's files",
    )
