"""Entries of an HdrHistogram interval log, as they stand in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hdrh.histogram import HdrHistogram

from plimsoll.generator.histogram import HIGHEST_NS, LOWEST_NS, SIGNIFICANT_DIGITS
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.settling_file import settling_lines

# Bounded, as each number becomes a float: a thousand digits would be infinite.
_NUMBER = r"(\d{1,15}\.\d{1,9})"
_LINE = re.compile(rf"Tag=([^,\s]+),{_NUMBER},{_NUMBER},{_NUMBER},(\S+)", re.ASCII)
# A comment, or the heading of the columns.
_NO_ENTRY = ("#", '"StartTimestamp"')


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line: times in s since the epoch, the exact greatest value in ms.

    `place` says in errors which entry of which file it is.
    """

    line: str
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
            histogram = HdrHistogram.decode(self.payload)
        except Exception as error:
            # The package raises whatever zlib, base64 or its own decoder raise.
            raise damaged(self.path, self.place) from error
        if _layout(histogram) != (LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS):
            raise damaged(self.path, self.place)
        return histogram


def log_entries(path: Path) -> Iterator[LogEntry]:
    """All entries in the file's order; none without a file, and a torn last line is left out.

    Raises RecordError naming the line where one is damaged.
    """
    for number, line in enumerate(settling_lines(path), start=1):
        if line.startswith(_NO_ENTRY):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise damaged(path, f"line {number}")
        tag, begin_s, length_s, max_ms, payload = match.groups()
        times = (float(begin_s), float(length_s), float(max_ms))
        yield LogEntry(line, tag, *times, payload, path, f"line {number}")


def damaged(path: Path, place: str) -> RecordError:
    """The error for a line, or another place, that cannot be read."""
    return RecordError(
        f"{place} is damaged",
        where=str(path),
        remedy="restore the file from a copy of the run, or delete that line and its interval",
    )


def _layout(histogram: HdrHistogram) -> tuple[int, int, int]:
    return (
        histogram.lowest_trackable_value,
        histogram.highest_trackable_value,
        histogram.significant_figures,
    )
