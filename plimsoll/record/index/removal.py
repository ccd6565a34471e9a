"""Removing runs: only what is a run, all of it, and nothing that it points to."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.index.run_paths import RUN_ID, looks_like_run, part_paths
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.run_lock import is_held, kept_idle
from plimsoll.text.plain_text import plain_text

# What a run directory holds by itself: the files of RunDirectory, those of this index, a
# matrix's plan and iterations, and what a kill leaves of a file being written.
_OWN = re.compile(
    r"experiment\.yaml|environment\.json|audit\.json|audits|journal\.jsonl|metrics"
    r"|histograms\.hlog(\.open)?|spikes\.(parquet|jsonl(\.open)?)|result\.json|report\.html"
    r"|charts|tables|causes|lock|summary\.json|notes\.json|notes\.lock|matrix\.json"
    r"|iteration-\d+|\..*\.\d+"
)
_BY_HAND = "look at it, and remove it by hand if you want it gone"


# Device, inode and kind: a freed inode number is soon reused.
FileIdentity = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Removal:
    """What is to be removed, as it was found: a run, or a link that leads to one.

    `bytes` and `files` are of all that is removed, which is nothing of what a link leads to.
    `foreign` are names in the run directory that no run has by itself.
    """

    path: Path
    entry: RunEntry
    is_link: bool
    bytes: int
    files: int
    foreign: tuple[str, ...]
    identity: FileIdentity


def plan_removal(path: Path) -> Removal:
    """What removing the run at `path` would remove.

    Raises InputError where it is not a run, is a part of one, or is still going, and RecordError
    where it cannot be looked into.
    """
    path = _without_links(path)
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            return _link(path, found)
        _check_is_run(path, found)
        _check_is_whole(path)
        check_is_over(path)
        files, size = _measure(path, found.st_dev)
        foreign = tuple(sorted(name for name in os.listdir(path) if not _OWN.fullmatch(name)))
    except OSError as error:
        raise removal_failed("cannot be looked into", path, error, _BY_HAND) from error
    entry = entry_of(path.name, path)
    return Removal(path, entry, False, size, files, foreign, identity_of(found))


def identity_of(found: os.stat_result) -> FileIdentity:
    """What tells a file from another that is put in its place."""
    return found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode)


def _link(path: Path, found: os.stat_result) -> Removal:
    if not looks_like_run(path):
        raise _no_run(path, "this link does not lead to a run")
    entry = entry_of(path.name, path)
    return Removal(path, entry, True, found.st_size, 1, (), identity_of(found))


def _check_is_run(path: Path, found: os.stat_result) -> None:
    """A whole run; or what a run is called, holding nothing but what runs hold."""
    if not stat.S_ISDIR(found.st_mode):
        raise _no_run(path, "this is not a directory")
    run = RunDirectory(path)
    if all(_is_file(part) for part in (run.experiment, run.journal)):
        return
    if RUN_ID.fullmatch(path.name) is None:
        raise _no_run(path, "this is not a run: it has no experiment.yaml or no journal.jsonl")
    foreign = [name for name in os.listdir(path) if not _OWN.fullmatch(name)]
    if foreign:
        shown = plain_text(", ".join(sorted(foreign)), 200)
        raise _no_run(
            path,
            "this run directory is incomplete and contains files that Plimsoll did not write: "
            f"{shown}",
        )


def _check_is_whole(path: Path) -> None:
    matrix = path.parent.parent
    if path in part_paths(matrix) and (matrix / "matrix.json").is_file():
        raise InputError(
            f"this is a part of the matrix run {plain_text(matrix.name)}",
            where=plain_text(str(path)),
            remedy="remove the whole matrix run, or leave it",
        )


def check_is_over(path: Path) -> None:
    """Raise InputError where the run, or one that it is made of, is going on."""
    for each in (path, *part_paths(path)):
        if is_held(each / "lock"):
            raise InputError(
                "the run is still running",
                where=plain_text(str(each)),
                remedy="stop it first, or wait until it ends",
            )


def _measure(path: Path, device: int) -> tuple[int, int]:
    """How many files there are, and their bytes. Raises InputError where one is mounted."""
    files, size = 0, 0
    for entry in _walk(path):
        found = entry.stat(follow_symlinks=False)
        if found.st_dev != device:
            raise InputError(
                "another file system is mounted in it",
                where=plain_text(entry.path),
                remedy="unmount it first",
            )
        if not stat.S_ISDIR(found.st_mode):
            files, size = files + 1, size + found.st_size
    return files, size


def _walk(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    """All below, folders before what they hold; what has vanished by then is left out."""
    folders = [os.fspath(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def _without_links(path: Path) -> Path:
    """The same place, by a path on which only the last step may be a link."""
    if path.name in ("", os.pardir):
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(path.parent)) / path.name


def removal_failed(what: str, path: Path, error: OSError, remedy: str) -> RecordError:
    """The error for `what`, with the system's reason and the file that it is about."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        reason += f" ({plain_text(os.fsdecode(error.filename))})"
    return RecordError(f"{what}: {reason}", where=plain_text(str(path)), remedy=remedy)


def _no_run(path: Path, what: str) -> InputError:
    return InputError(what, where=plain_text(str(path)), remedy=_BY_HAND)


_TAKEN_OUT = re.compile(r"\.plimsoll-removed-[0-9a-f]{16}")
_LOOK_AGAIN = "look what it is now, and try again"
_WRITABLE = "make the folder that it lies in writable for you"
# Another process may be removing the same files.
_TRIES = 5


def remove(removal: Removal) -> None:
    """Remove what was planned, if it is still what was planned.

    The run is out of every list at once, and then deleted: a kill before that leaves a hidden
    directory next to the others, which `finish_removals` deletes. Raises InputError where the
    run has begun to go on, and RecordError where it has changed or cannot be removed.
    """
    if removal.is_link:
        _check_unchanged(removal, removal.path)
        _unlink(removal.path)
        return
    check_is_over(removal.path)
    # Held to the end, so that no process resumes the run while it vanishes.
    with kept_idle(removal.path / "lock"):
        _delete(_taken_out(removal))


def finish_removals(folder: Path) -> int:
    """Delete what removals that were cut short have left in `folder`, and say how many.

    Raises RecordError where that cannot be done.
    """
    try:
        with os.scandir(folder) as entries:
            leftovers = [
                folder / entry.name
                for entry in entries
                if _TAKEN_OUT.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return 0
    for path in leftovers:
        _delete(path)
    return len(leftovers)


def _taken_out(removal: Removal) -> Path:
    """Where the run is now, under a name that no list shows."""
    token = secrets.token_hex(8)
    aside = removal.path.with_name(f".plimsoll-aside-{token}")
    doomed = removal.path.with_name(f".plimsoll-removed-{token}")
    try:
        removal.path.rename(aside)
        # From here on no other directory can be put in its place.
        try:
            _check_unchanged(removal, aside)
        except RecordError:
            aside.rename(removal.path)
            raise
        aside.rename(doomed)
    except OSError as error:
        raise removal_failed("cannot be removed", removal.path, error, _WRITABLE) from error
    return doomed


def _check_unchanged(removal: Removal, path: Path) -> None:
    try:
        found = os.lstat(path)
    except OSError as error:
        raise removal_failed("cannot be removed", removal.path, error, _LOOK_AGAIN) from error
    if identity_of(found) != removal.identity:
        raise RecordError(
            "has changed since you confirmed",
            where=plain_text(str(removal.path)),
            remedy=_LOOK_AGAIN,
        )


def _delete(path: Path) -> None:
    """All of a directory, by descriptors, so that no link leads out of it."""
    for tries_left in reversed(range(_TRIES)):
        try:
            shutil.rmtree(path)
        except FileNotFoundError as error:
            if not os.path.lexists(path):
                return
            if not tries_left:
                raise _half_deleted(path, error) from error
        except OSError as error:
            raise _half_deleted(path, error) from error
        else:
            return


def _unlink(path: Path) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        raise removal_failed("cannot be removed", path, error, _WRITABLE) from error


def _half_deleted(path: Path, error: OSError) -> RecordError:
    remedy = "make all in it writable for you, and remove it by hand"
    return removal_failed("is no longer listed, but cannot be deleted", path, error, remedy)
