"""Which files of a run its journal lists: they are opened, by path, and no others.

A file that lies in a run directory counts because the run has recorded it, with its length and
SHA-256, in an event `files`; because the journal has it being written anew; or, while a process
holds the run's lock, because it belongs to the trial that goes on. What else lies there is not
read. A journal without any such event (of a run that has just begun under an earlier version)
closes nothing: there the folder itself is the list.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.whole_file import FileSum
from plimsoll.record.run.journal import (
    FILES,
    FINISHED,
    PERIOD_BEGUN,
    RUN_REOPENED,
    RUN_RESUMED,
    RUN_STARTED,
    TRIAL_STARTED,
    JournalChain,
    JournalEvent,
    parse_event,
)
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.run.run_lock import is_held

# What a run says at its start of what grows while it goes on: files, and folders with a slash.
GROWING_FILES = (
    "histograms.hlog",
    "histograms.hlog.open",
    "spikes.jsonl",
    "spikes.jsonl.open",
    "spikes.parquet",
    "metrics/",
    "scrapes/",
    "probes/",
    "flows/",
    "causes/",
    "audits/",
)
GROWING = "growing"
# By file: the whole ones with their last checksum, growing ones with one for each stretch.
Sums = dict[str, list[FileSum]]
_ENDS = (FINISHED, RUN_RESUMED, RUN_REOPENED)
# The record's frame, which other rules check; what is drawn from it or said about it; and what
# is of the place: locks, the index, a cluster that a churn has brought up, files half written.
_FRAME = re.compile(
    r"journal\.jsonl|result\.json|report\.html|charts/[^/]+\.(svg|png)|tables/[^/]+\.csv"
    r"|notes\.json|notes\.lock"
    r"|summary\.json|lock|control-plane/.*|(.*/)?\.[^/]*\.(unfinished|[0-9]+|jsonl|parquet)"
)
# Complete only with the first trial, and known to none before.
_EARLY = re.compile(
    r"experiment\.yaml|environment\.json|audit\.json|audits/.*|matrix\.json"
    # What a trial has left that did not come to its end, until the run is resumed.
    r"|spikes\.jsonl(\.open)?|histograms\.hlog(\.open)?"
)
_PART = re.compile(r"iteration-\d+")


def _prefixes(*kinds: str) -> tuple[bytes, ...]:
    """How lines of these kinds begin, so that others are not parsed."""
    return tuple(f'{{"kind": "{kind}", '.encode() for kind in kinds)


_KINDS = _prefixes(FILES, PERIOD_BEGUN, RUN_STARTED, RUN_RESUMED, RUN_REOPENED, TRIAL_STARTED)
# It holds the whole result, of which nothing is needed.
_FINISHED = _prefixes(FINISHED)
_TAIL_BYTES = 256
# Journals whose state is kept: of runs that are read again and again while they grow.
_MAX_KEPT = 4096


@dataclass(slots=True)
class JournalFiles:
    """What the events of a journal come to, taken in order."""

    sums: Sums = field(default_factory=dict)
    rewriting: set[str] = field(default_factory=set)
    # Periods that were begun and whose files have no checksums yet.
    open_periods: set[str] = field(default_factory=set)
    growing: tuple[str, ...] | None = None
    lists: bool = False
    # Whether the run has come to its end and has not gone on since.
    over: bool = False

    def take(self, event: JournalEvent) -> None:
        """Add the next event."""
        fields = event.fields
        if event.kind == FILES:
            self._list(fields.get("sums"), fields.get("rewriting"))
        elif event.kind == TRIAL_STARTED and isinstance(number := fields.get("number"), int):
            self.open_periods.add(trial_period(number))
        elif event.kind in _ENDS:
            self.over = event.kind == FINISHED
        elif event.kind == PERIOD_BEGUN:
            self.open_periods.add(str(fields.get("period")))
        elif event.kind == RUN_STARTED and isinstance(named := fields.get(GROWING), list):
            self.growing, self.lists = tuple(map(str, named)), True

    def _list(self, sums: object, rewriting: object) -> None:
        self.lists = True
        for name in rewriting if isinstance(rewriting, list) else ():
            self.sums.pop(str(name), None)
            self.rewriting.add(str(name))
        for name, fields in sums.items() if isinstance(sums, dict) else ():
            recorded = FileSum.recorded(fields)
            if recorded is None or ".." in Path(name).parts or name.startswith("/"):
                continue
            # Lists are never changed, as copies of this state share them.
            earlier = self.sums.get(name, []) if recorded.begin else []
            self.sums[name] = [*earlier, recorded]
            self.rewriting.discard(name)
        if sums:
            self.open_periods.clear()

    def copy(self) -> JournalFiles:
        """To take further events, while others read this one."""
        return replace(
            self,
            sums=dict(self.sums),
            rewriting=set(self.rewriting),
            open_periods=set(self.open_periods),
        )

    @classmethod
    def of(cls, events: Iterable[JournalEvent]) -> JournalFiles:
        """What they come to."""
        found = cls()
        for event in events:
            found.take(event)
        return found


@dataclass(frozen=True)
class ListedFiles:
    """The files of one run as its journal has them at this moment."""

    run: RunDirectory
    journal: JournalFiles

    @classmethod
    def of(cls, run: RunDirectory) -> ListedFiles:
        """Raises RecordError where a line of the journal that lists files is damaged."""
        return cls(run, _read(run.journal))

    @property
    def closed(self) -> bool:
        """Whether only what is listed counts."""
        return self.journal.lists

    @cached_property
    def held(self) -> bool:
        """Whether a process writes to the run."""
        return is_held(self.run.path / "lock")

    def counts(self, name: str) -> bool:
        """Whether the file of this path in the run directory is part of its record now."""
        journal = self.journal
        if not self.closed or name in journal.sums or name in journal.rewriting:
            return True
        return self.of_open_trial(name) and self.held

    def present(self, path: Path) -> bool:
        """Whether this file of the run counts and is there."""
        return self.counts(path.relative_to(self.run.path).as_posix()) and path.exists()

    def of_open_trial(self, name: str) -> bool:
        """Whether the trial that goes on, or was killed, writes a file of this path."""
        growing = GROWING_FILES if self.journal.growing is None else self.journal.growing
        folder, slash, file = name.rpartition("/")
        if f"{folder}{slash}" not in growing and name not in growing:
            return False
        if folder in ("metrics", "scrapes", "probes"):
            return any(of_period(file, period) for period in self.journal.open_periods)
        return True

    def length(self, name: str) -> int | None:
        """How many bytes of a growing file count; None for all that it has."""
        if not self.closed or (self.of_open_trial(name) and self.held):
            return None
        sums = self.journal.sums.get(name)
        return sums[-1].end if sums else 0


def of_period(file: str, period: str) -> bool:
    """Whether a file of this name is of the period; the name goes on with no digit."""
    return re.match(rf"{re.escape(period)}(?![0-9])", file) is not None


@dataclass(slots=True)
class _Kept:
    """A journal's state up to a byte; the bytes before it tell whether it is the same journal."""

    state: JournalFiles
    inode: int
    read_bytes: int
    changed_ns: int
    tail: bytes
    chain: JournalChain


_kept: dict[Path, _Kept] = {}


def _read(path: Path) -> JournalFiles:
    """The journal's state; of a journal that has grown only what is new is read."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            kept = _kept.get(path)
            stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
            if kept and stamp == (kept.inode, kept.read_bytes, kept.changed_ns):
                return kept.state
            kept = _read_on(file, found, kept)
    except FileNotFoundError:
        return JournalFiles()
    except OSError as error:
        raise RecordError(
            f"cannot be read: {error.strerror or error}",
            where=str(path),
            remedy="see that you may read it, and to the disk",
        ) from error
    except ValueError as error:
        raise RecordError(
            f"a line is damaged: {error}",
            where=str(path),
            remedy="restore it from a copy of the run",
        ) from error
    if len(_kept) >= _MAX_KEPT:
        _kept.clear()
    _kept[path] = kept
    return kept.state


def _read_on(file: BinaryIO, found: os.stat_result, kept: _Kept | None) -> _Kept:
    """From where it was read up to, where it has grown; else from the begin."""
    begin, state, tail, chain = 0, JournalFiles(), b"", JournalChain()
    if kept and kept.inode == found.st_ino and found.st_size > kept.read_bytes:
        file.seek(kept.read_bytes - len(kept.tail))
        if file.read(len(kept.tail)) == kept.tail:
            begin, state, tail = kept.read_bytes, kept.state.copy(), kept.tail
            chain = kept.chain.copy()
    file.seek(begin)
    for line in file:
        if not line.endswith(b"\n"):
            break
        begin, tail = begin + len(line), line[-_TAIL_BYTES:]
        chain.take(line)
        if line.startswith(_FINISHED):
            state.over = True
        elif line.startswith(_KINDS):
            state.take(parse_event(line))
    return _Kept(state, found.st_ino, begin, found.st_mtime_ns, tail, chain)


def listed_in(run: RunDirectory, folder: Path) -> list[Path]:
    """The files of one of the run's folders that count, by name, also those that are missing.

    Raises RecordError where the folder cannot be looked into.
    """
    listed = ListedFiles.of(run)
    try:
        names = {name for name in os.listdir(folder) if not name.startswith(".")}
    except FileNotFoundError:
        names = set()
    except OSError as error:
        raise RecordError(
            f"cannot be looked into: {error.strerror or error}",
            where=str(folder),
            remedy="make the directory readable for you",
        ) from error
    counting = {name for name in names if listed.counts(f"{folder.name}/{name}")}
    prefix = f"{folder.name}/"
    recorded = {n.removeprefix(prefix) for n in listed.journal.sums if n.startswith(prefix)}
    return [folder / name for name in sorted(counting | recorded)]


# What lies in a run directory that is no part of the run's record.
def unlisted_names(listed: ListedFiles) -> Iterator[str]:
    """Paths in the run directory, by name; the runs that a matrix is made of are not looked into.

    What the trial that goes on or was killed has written is not one of them. Raises RecordError.
    """
    if not listed.closed:
        return
    journal = listed.journal
    writing = bool(journal.open_periods) or listed.held
    for name in _names(listed):
        known = name in journal.sums or name in journal.rewriting or _FRAME.fullmatch(name)
        early = not journal.over and _EARLY.fullmatch(name)
        going_on = writing and listed.of_open_trial(name)
        if not (known or early or going_on or _is_empty_rest(listed, name)):
            yield name


def _is_empty_rest(listed: ListedFiles, name: str) -> bool:
    """Whether it is a file that grew, of which all has been moved elsewhere."""
    return name in GROWING_FILES and not (listed.run.path / name).stat().st_size


def _names(listed: ListedFiles) -> Iterator[str]:
    root = listed.run.path
    for folder, folders, files in os.walk(root, onerror=_raise):
        if folder == os.fspath(root):
            folders[:] = [each for each in folders if not _PART.fullmatch(each)]
        folders.sort()
        within = os.path.relpath(folder, root)
        yield from (each if within == "." else f"{within}/{each}" for each in sorted(files))


def _raise(error: OSError) -> None:
    raise RecordError(
        f"cannot be looked into: {error.strerror or error}",
        where=str(error.filename),
        remedy="make the directory readable for you",
    ) from error
