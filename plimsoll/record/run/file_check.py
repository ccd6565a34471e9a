"""Checking a run's files against the checksums that its journal has of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from plimsoll.record.files.file_sum import FileSum
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.journal import (
    FILES,
    JournalContents,
    JournalEvent,
    parse_event,
    read_journal,
)
from plimsoll.record.run.result_file import RunEnd, check_result, read_result_file
from plimsoll.record.run.run_directory import RunDirectory

REMEDY = "restore it from a copy of the run; plimsoll runs check says what else is damaged"
_PREFIX = b'{"kind": "files", '
# By file: the whole ones with their last checksum, growing ones with one for each stretch.
Sums = dict[str, list[FileSum]]


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
    return _sums_of(journal.of_kind(FILES))


def check_run(run: RunDirectory) -> Iterator[FileDamage]:
    """All that is not as it was recorded: the files, and result.json against the journal.

    Reads every byte of them. Raises RecordError where the journal itself is damaged.
    """
    journal = read_journal(run.journal)
    yield from check_files(run, recorded_sums(journal))
    try:
        check_result(run.result, read_result_file(run.result), RunEnd.of(journal))
    except RecordError as error:
        yield FileDamage(run.result, error.message)


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
    error = first_error(check_files(run, _sums_at(run.journal), names))
    if error is not None:
        raise error


def require_intact_paths(run: RunDirectory, paths: Iterable[Path]) -> None:
    """The same for these files of the run, by their paths."""
    sums = _sums_at(run.journal)
    for path in paths:
        name = f"{path.parent.name}/{path.name}"
        if name in sums and (reason := _difference(path, sums[name])):
            raise FileDamage(path, reason).error


def first_error(found: Iterable[FileDamage]) -> RecordError | None:
    """The error of the first damage; None without any."""
    return next((each.error for each in found), None)


def _sums_at(journal: Path) -> Sums:
    """Only the events that have some are parsed: the others are checked where they are read."""
    try:
        with journal.open("rb") as file:
            lines = [line for line in file if line.startswith(_PREFIX)]
        return _sums_of([parse_event(line) for line in lines if line.endswith(b"\n")])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RecordError(
            f"a line with checksums is damaged: {error}",
            where=str(journal),
            remedy="restore it from a copy of the run",
        ) from error


def _sums_of(events: Iterable[JournalEvent]) -> Sums:
    found: Sums = {}
    for event in events:
        rewriting = event.fields.get("rewriting")
        for name in rewriting if isinstance(rewriting, list) else ():
            found.pop(str(name), None)
        sums = event.fields.get("sums")
        for name, fields in sums.items() if isinstance(sums, dict) else ():
            recorded = FileSum.recorded(fields)
            if recorded is None or ".." in Path(name).parts or name.startswith("/"):
                continue
            if not recorded.begin:
                found[name] = []
            found.setdefault(name, []).append(recorded)
    return found


def _difference(path: Path, recorded: list[FileSum]) -> str | None:
    try:
        found = path.stat()
    except OSError:
        return recorded[-1].difference(path)
    # Reading the same unchanged file again and again costs one reading.
    return _difference_of(path, tuple(recorded), found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=4096)
def _difference_of(
    path: Path, recorded: tuple[FileSum, ...], inode: int, size: int, changed_ns: int
) -> str | None:
    whole = recorded[-1]
    if not whole.begin and len(recorded) == 1 and size > whole.end and path.suffix != ".hlog":
        return f"has {size:,} bytes; {whole.end:,} were recorded"
    return next((said for each in recorded if (said := each.difference(path))), None)
