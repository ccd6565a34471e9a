"""Checking a run's files against the checksums that its journal has of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from plimsoll.record.files.file_sum import FileSum
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.listed_files import JournalFiles, ListedFiles, Sums, unlisted_names
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
