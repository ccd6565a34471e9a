"""Entries of an HdrHistogram interval log, as they stand in the file."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hdrh.histogram import HdrHistogram

from plimsoll.generator.histogram import HIGHEST_NS, LOWEST_NS, SIGNIFICANT_DIGITS
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.settling_file import settling_lines
from plimsoll.record.run.file_check import require_intact_paths
from plimsoll.record.run.listed_files import ListedFiles
from plimsoll.record.run.run_directory import RunDirectory

# Bounded, as each number becomes a float: a thousand digits would be infinite.
_NUMBER = r"(\d{1,15}\.\d{1,9})"
_LINE = re.compile(rf"Tag=([^,\s]+),{_NUMBER},{_NUMBER},{_NUMBER},(\S+)", re.ASCII)
# Before what is under zlib: a cookie and a length.
_HEADER_BYTES = 8
# 4,000 counters of 9 bytes at most, and the layout.
_MOST_BYTES = 1 << 16
# A comment, or the heading of the columns.
_NO_ENTRY = ("#", '"StartTimestamp"')
_TRIAL = re.compile(r"#\[Trial: ([0-9]{1,9})\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line: times in s since the epoch, the exact greatest value in ms.

    `trial` is the one that it is of; None in logs of earlier versions, whose entries are known
    apart by their times alone. `place` says in errors which entry of which file it is.
    """

    line: str
    trial: int | None
    tag: str
    begin_s: float
    length_s: float
    max_ms: float
    payload: str
    path: Path
    place: str

    @property
    def end_s(self) -> float:
        """When it ends."""
        return self.begin_s + self.length_s

    def decoded(self) -> HdrHistogram:
        """Its histogram, values in ns. Raises RecordError where it is damaged."""
        try:
            _check_size(self.payload)
            histogram = HdrHistogram.decode(self.payload)
        except Exception as error:
            # The package raises whatever zlib, base64 or its own decoder raise.
            raise damaged(self.path, self.place) from error
        if _layout(histogram) != (LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS):
            raise damaged(self.path, self.place)
        return histogram


def log_entries(path: Path) -> Iterator[LogEntry]:
    """All entries in the file's order; none without a file, and a torn last line is left out.

    Of a log in a run directory these are the entries that the run's journal lists, and those
    of a trial that goes on. Raises RecordError where they are not as they were recorded, and
    naming the line where one is damaged.
    """
    trial: int | None = None
    for number, line in enumerate(log_lines(path), start=1):
        if line.startswith(_NO_ENTRY):
            mark = _TRIAL.fullmatch(line)
            trial = trial if mark is None else int(mark[1])
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise damaged(path, f"line {number}")
        tag, begin_s, length_s, max_ms, payload = match.groups()
        times = (float(begin_s), float(length_s), float(max_ms))
        yield LogEntry(line, trial, tag, *times, payload, path, f"line {number}")


def log_lines(path: Path) -> Iterator[str]:
    """The lines of those entries and what stands between them. Raises RecordError as above."""
    run = RunDirectory(path.parent)
    require_intact_paths(run, [path])
    return settling_lines(path, ListedFiles.of(run).length(path.name))


def trial_mark(number: int) -> str:
    """The line after which entries are of this trial: a comment to other programs."""
    return f"#[Trial: {number}]"


def is_trial_mark(line: str) -> bool:
    """Whether `trial_mark` made the line."""
    return _TRIAL.fullmatch(line) is not None


def damaged(path: Path, place: str) -> RecordError:
    """The error for a line, or another place, that cannot be read."""
    return RecordError(
        f"{place} is damaged",
        where=str(path),
        remedy="restore the file from a copy of the run, or delete that line and its interval",
    )


def _check_size(payload: str) -> None:
    """Raise ValueError for more than any of ours has: the package inflates whatever there is."""
    packed = base64.b64decode(payload)[_HEADER_BYTES:]
    if len(zlib.decompressobj().decompress(packed, _MOST_BYTES + 1)) > _MOST_BYTES:
        raise ValueError("more than any histogram has")


def _layout(histogram: HdrHistogram) -> tuple[int, int, int]:
    return (
        histogram.lowest_trackable_value,
        histogram.highest_trackable_value,
        histogram.significant_figures,
    )
