"""Checking a run's files against the checksums that its journal has of them.

Recording the checksums of a run's files, in the journal's events `files`. A file is taken when it
is complete: with the trial that it is of, or at the run's end. What grows (the histogram log) is
taken by the stretch that came since the last time. Only the files that a run writes anew as it
goes on are taken again; any other keeps its first checksum, so that damage is never recorded as if
it were the run's own work. Nor is a foreign file: of folders that is taken which the run has said
to have written, or to write in a period.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from plimsoll.record.files.record_error import RecordError, write_failed
from plimsoll.record.files.whole_file import FileSum
from plimsoll.record.run.journal import FILES, Journal, JournalContents, read_journal
from plimsoll.record.run.listed_files import (
    JournalFiles,
    ListedFiles,
    Sums,
    of_period,
    unlisted_names,
)
from plimsoll.record.run.result_file import RunEnd, check_result, read_result_file
from plimsoll.record.run.run_directory import RunDirectory

# These are recorded by the stretch; a stretch behind the last may be a killed trial's.
_STRETCHED = ("histograms.hlog",)
REMEDY = "restore it from a copy of the run; plimsoll runs check says what else is damaged"


@dataclass(frozen=True, slots=True)
class FileDamage:
    """A file of a run that is not as it was recorded, and how."""

    path: Path
    reason: str

    @property
    def error(self) -> RecordError:
        """To raise where a figure would come from it."""
        return RecordError(self.reason, where=str(self.path), remedy=REMEDY)


def recorded_sums(journal: JournalContents) -> Sums:
    """What the journal has of each file, by its path in the run directory."""
    return JournalFiles.of(journal.events).sums


def check_run(run: RunDirectory, *, unlisted: bool = True) -> Iterator[FileDamage]:
    """All that is not as it was recorded: the files, and result.json against the journal.

    Reads every byte of them, and with `unlisted` names what lies there and is not in the
    journal. Raises RecordError where the journal itself is damaged.
    """
    journal = read_journal(run.journal)
    listed = ListedFiles(run, JournalFiles.of(journal.events))
    yield from check_files(run, listed.journal.sums)
    if unlisted:
        yield from unlisted_files(listed)
        if journal.torn and listed.journal.over:
            reason = "has bytes behind its last event, with which the run ended; they are not read"
            yield FileDamage(run.journal, reason)
    try:
        check_result(run.result, read_result_file(run.result), RunEnd.of(journal))
    except RecordError as error:
        yield FileDamage(run.result, error.message)


def unlisted_files(listed: ListedFiles) -> Iterator[FileDamage]:
    """What lies in a run directory and is no part of its record; also behind a file's end."""
    for name in _STRETCHED:
        end = listed.length(name)
        if end is None or listed.journal.open_periods or name not in listed.journal.sums:
            continue
        if (size := _size(listed.run.path / name)) > end:
            reason = f"has {size:,} bytes; {end:,} were recorded, and the others are not read"
            yield FileDamage(listed.run.path / name, reason)
    for name in unlisted_names(listed):
        yield FileDamage(listed.run.path / name, "is not listed in the journal, and not read")


def check_files(
    run: RunDirectory, sums: Mapping[str, list[FileSum]], names: tuple[str, ...] = ("",)
) -> Iterator[FileDamage]:
    """What differs from `sums` among the files whose path in the run begins with one of `names`."""
    for name, recorded in sums.items():
        if name.startswith(names) and (reason := _difference(run.path / name, recorded)):
            yield FileDamage(run.path / name, reason)


def require_intact(run: RunDirectory, *names: str) -> None:
    """Raise RecordError where one of these files is damaged: figures are to come from them.

    A name that ends with a slash is of all files of a folder. What has no checksum yet, of a
    trial that goes on or was killed, is taken as it is.
    """
    error = first_error(check_files(run, ListedFiles.of(run).journal.sums, names))
    if error is not None:
        raise error


def require_intact_paths(run: RunDirectory, paths: Iterable[Path]) -> None:
    """The same for these files of the run, by their paths."""
    for damage in _damaged(run, paths):
        raise damage.error


def intact_paths(run: RunDirectory, paths: Sequence[Path]) -> list[Path]:
    """Those of these files that are as they were recorded, for pages that name the damaged ones."""
    damaged = {damage.path for damage in _damaged(run, paths)}
    return [path for path in paths if path not in damaged]


def _damaged(run: RunDirectory, paths: Iterable[Path]) -> Iterator[FileDamage]:
    listed = ListedFiles.of(run)
    for path in paths:
        recorded = listed.journal.sums.get(path.relative_to(run.path).as_posix())
        growing = path.name in _STRETCHED and listed.held
        if recorded and (reason := _difference(path, recorded, growing=growing)):
            yield FileDamage(path, reason)


def first_error(found: Iterable[FileDamage]) -> RecordError | None:
    """The error of the first damage; None without any."""
    return next((each.error for each in found), None)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _difference(path: Path, recorded: list[FileSum], *, growing: bool = False) -> str | None:
    try:
        found = path.stat()
    except OSError:
        return recorded[-1].difference(path)
    if growing:
        # It is another file at each look, of which what was looked at before is not read again.
        said = (_stretch_difference(path, each, found.st_ino) for each in recorded)
        return next(filter(None, said), None)
    # Reading the same unchanged file again and again costs one reading.
    return _difference_of(path, tuple(recorded), found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=65536)
def _difference_of(
    path: Path, recorded: tuple[FileSum, ...], inode: int, size: int, changed_ns: int
) -> str | None:
    whole = recorded[-1]
    if size > whole.end and path.name not in _STRETCHED:
        return f"has {size:,} bytes; {whole.end:,} were recorded"
    return next((said for each in recorded if (said := each.difference(path))), None)


@lru_cache(maxsize=65536)
def _stretch_difference(path: Path, recorded: FileSum, inode: int) -> str | None:
    return recorded.difference(path)


_WHOLE = ("experiment.yaml", "environment.json", "audit.json", "matrix.json")
# By period: a trial's, or a churn's.
_FOLDERS = {"metrics": ".parquet", "scrapes": ".gz", "probes": ".gz"}
SPIKES = "spikes.parquet"
_GROWING = "histograms.hlog"
# These a run writes anew while it goes on; the audits when it is resumed on another boot.
_REWRITTEN = ("environment.json", "audit.json", "audits/", SPIKES)
# Device and inode are of no use: a copy of the run has others.
_Stamp = tuple[int, int]


class FileChecksums:
    """Which of a run's files are recorded by now. For the run's only writer."""

    def __init__(self, run: RunDirectory, journal: JournalContents) -> None:
        """Go on after what the journal has.

        Raises RecordError where a file that the run is to write anew is damaged: what it holds
        would be taken into the new one.
        """
        self._run = run
        state = JournalFiles.of(journal.events)
        self._sums = state.sums
        # Those of the period in which a kill came.
        self._periods = set(state.open_periods)
        self._written: set[str] = set()
        error = first_error(check_files(run, self._sums, _REWRITTEN))
        if error is not None:
            raise error
        self._stamps = {name: _stamp(run.path / name) for name in self._sums}

    @property
    def open_periods(self) -> frozenset[str]:
        """Those whose files are not recorded yet."""
        return frozenset(self._periods)

    def begin_period(self, period: str) -> None:
        """Take the files of this period, by their names, when `record` is called next."""
        self._periods.add(period)

    def wrote(self, *paths: Path) -> None:
        """Take these files of the run as well."""
        self._written.update(path.relative_to(self._run.path).as_posix() for path in paths)

    def record(self, journal: Journal) -> None:
        """Record what is new or was written anew since the last time. Raises RecordError."""
        found = dict(self._unrecorded())
        if found:
            journal.append(FILES, sums={name: each.fields for name, each in found.items()})
            for name, each in found.items():
                earlier = self._sums.get(name, []) if each.begin else []
                self._sums[name] = [*earlier, each]
            self._periods.clear()
            self._written.clear()

    def open(self, journal: Journal, names: tuple[str, ...] = _REWRITTEN) -> None:
        """Take back the checksums of what is about to be written anew. Raises RecordError.

        A kill before the new ones are recorded would else leave a sound file that looks
        damaged.
        """
        opened = [name for name in self._sums if name.startswith(names)]
        if opened:
            journal.append(FILES, sums={}, rewriting=opened)
            for name in opened:
                del self._sums[name]
            # Where they are not written anew after all, they are what they were.
            self._written.update(opened)

    def _unrecorded(self) -> Iterator[tuple[str, FileSum]]:
        for name in self._names():
            stamp, begin = _stamp(self._run.path / name), 0
            known = self._sums.get(name)
            if known and stamp == self._stamps.get(name):
                continue
            if known and name == _GROWING:
                begin = known[-1].end
            elif known and not name.startswith(_REWRITTEN):
                continue
            self._stamps[name] = stamp
            yield name, _sum(self._run.path / name, begin)

    def _names(self) -> Iterator[str]:
        folder = self._run.path
        named = dict.fromkeys((*_WHOLE, SPIKES, _GROWING, *sorted(self._written)))
        yield from (name for name in named if (folder / name).is_file())
        for name, suffix in _FOLDERS.items() if self._periods else ():
            for each in _listed(folder / name):
                own = any(of_period(each, period) for period in self._periods)
                if own and each.endswith(suffix):
                    yield f"{name}/{each}"


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise write_failed(folder, error) from error


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _sum(path: Path, begin: int) -> FileSum:
    try:
        return FileSum.of(path, begin)
    except OSError as error:
        raise RecordError(
            f"cannot be read back for its checksum: {error.strerror or error}",
            where=str(path),
            remedy="look after the disk; finished trials are kept",
        ) from error
