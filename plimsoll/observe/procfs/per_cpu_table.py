"""Tables of counters with a column for each CPU: /proc/interrupts and /proc/softirqs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from operator import ne
from pathlib import Path
from typing import NamedTuple

from plimsoll.observe.reading.host_files import RereadFile
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_MODULUS = 1 << 32
# No CPU counts as much in the seconds between two readings: at ten million events a second,
# which is more than it can take interrupts or packets, this is 27 s.
_FURTHEST = 1 << 28


def continued(total: int, reading: int) -> int:
    """The total that a counter of 32 bits shows as `reading`; it stood at `total` before.

    One that was set to zero, not wrapped, is taken at its word: then it is less than before.
    """
    counted = (reading - total) % _MODULUS
    wrapped = reading < total % _MODULUS
    return total + counted if not wrapped or counted < _FURTHEST else reading


# A CPU that comes or goes while the kernel writes the table leaves lines that disagree.
_ATTEMPTS = 5

# The names of a line's series, in addition to the CPU: of its label and the text behind its counts.
NamesOf = Callable[[bytes, bytes], Mapping[str, str]]


class PerCpuTable:
    """One such table, read again and again. Counts are of 32 bits and may wrap.

    Most pairs of line and CPU never count: 200 interrupts on 40 CPUs are 8000 pairs, of which
    some hundred do. So a series is declared once its count is not zero, and then from when it was
    first read as zero. Of a line that has never counted on any CPU the first CPU's series is
    declared, so that the line does not look as if it had not been read.
    """

    def __init__(self, path: Path, metric: MetricType, names_of: NamesOf) -> None:
        """Open it. Raises OSError."""
        self._file = RereadFile(path)
        self._metric = metric
        self._names_of = names_of
        self._text: list[bytes] = []
        self._columns = 0
        self._rows: list[_Row] = []

    def read(self, readings: Readings) -> None:
        """Tell what has counted since. Raises OSError, and ValueError for no such table."""
        text = self._file.read().splitlines()
        changed = self._changed(text)
        if changed is None:
            text = self._lay_out(text, readings)
        else:
            for row, counts in changed:
                row.tell(counts, readings)
        self._text = text

    def _changed(self, text: Sequence[bytes]) -> list[tuple[_Row, list[bytes]]] | None:
        """The rows whose counts are not those of before; None if there are other rows or CPUs."""
        if not self._text or len(text) != len(self._text) or text[0] != self._text[0]:
            return None
        changed: list[tuple[_Row, list[bytes]]] = []
        for row, line, before in zip(self._rows, text[1:], self._text[1:], strict=True):
            if line == before:
                continue
            found = _parse(line, self._columns)
            if found is None or (found.label, found.text) != (row.label, row.text):
                return None
            changed.append((row, found.counts))
        return changed

    def _lay_out(self, text: list[bytes], readings: Readings) -> list[bytes]:
        """Rows and columns are other ones now; what is known of pairs stays."""
        text, cpus, lines = self._consistent(text)
        before = {(row.label, row.text): row for row in self._rows}
        for gone in before.keys() - {(line.label, line.text) for line in lines}:
            before[gone].forget(before[gone].cpus, readings)
        self._columns = len(cpus)
        self._rows = [
            self._row(line, cpus, before.get((line.label, line.text)), readings) for line in lines
        ]
        return text

    def _consistent(self, text: list[bytes]) -> tuple[list[bytes], list[str], list[_Line]]:
        for _ in range(_ATTEMPTS):
            cpus = _cpus(text[0]) if text else []
            lines = [_parse(line, len(cpus)) for line in text[1:]]
            fitting = [line for line in lines if line is not None]
            if cpus and len(fitting) == len(lines):
                return text, cpus, fitting
            text = self._file.read().splitlines()
        raise ValueError(f"{self._file.path} is not a table of counters by CPU")

    def _row(
        self, line: _Line, cpus: Sequence[str], before: _Row | None, readings: Readings
    ) -> _Row:
        if len(line.counts) < len(cpus):
            cpus = [""]
        names = self._names_of(line.label, line.text)
        row = _Row(self._metric, names, line, cpus)
        if before is not None:
            before.forget(set(before.cpus) - set(cpus), readings)
            row.take_over(before)
        row.begin(line.counts, readings)
        return row


class _Line(NamedTuple):
    label: bytes
    counts: list[bytes]
    text: bytes


class _Row:
    """A line of the table: what its pairs stand at, in the order of the columns."""

    def __init__(
        self, metric: MetricType, names: Mapping[str, str], line: _Line, cpus: Sequence[str]
    ) -> None:
        self.label, self.text = line.label, line.text
        self.cpus = list(cpus)
        self._metric = metric
        self._names = names
        # As they were read, to see at once which have changed; empty for a new column.
        self._counts = [b""] * len(cpus)
        self._totals = [0] * len(cpus)
        self._since_ns = [0] * len(cpus)
        self._series: list[int | None] = [None] * len(cpus)

    def take_over(self, before: _Row) -> None:
        """Go on where a row with other columns left off."""
        for column, cpu in enumerate(self.cpus):
            if cpu in before.cpus:
                other = before.cpus.index(cpu)
                self._counts[column] = before._counts[other]
                self._totals[column] = before._totals[other]
                self._since_ns[column] = before._since_ns[other]
                self._series[column] = before._series[other]

    def begin(self, counts: list[bytes], readings: Readings) -> None:
        """Read where new columns stand, and tell the others."""
        for column in [column for column, count in enumerate(self._counts) if not count]:
            self._counts[column] = counts[column]
            self._totals[column] = int(counts[column])
            self._since_ns[column] = readings.now_ns
            if self._totals[column]:
                self._declare(column, readings, self._totals[column])
        if not any(series is not None for series in self._series):
            self._declare(0, readings, self._totals[0])
        self.tell(counts, readings)

    def tell(self, counts: list[bytes], readings: Readings) -> None:
        """Tell what has counted."""
        # Of 40 columns a few have changed: they are found without a loop in Python.
        for column in compress(range(len(counts)), map(ne, counts, self._counts)):
            series = self._series[column]
            if series is None:
                series = self._declare(column, readings, 0)
            self._totals[column] = continued(self._totals[column], int(counts[column]))
            readings.total(series, self._totals[column])
        self._counts = counts

    def forget(self, cpus: Sequence[str] | set[str], readings: Readings) -> None:
        """These CPUs' series are not there any more."""
        for cpu, series in zip(self.cpus, self._series, strict=True):
            if cpu in cpus and series is not None:
                readings.absent(series)

    def _declare(self, column: int, readings: Readings, total: int) -> int:
        cpu = self.cpus[column]
        names = {**self._names, "cpu": cpu} if cpu else self._names
        series = readings.series(self._metric, names, self._since_ns[column])
        self._series[column] = series
        readings.total(series, total)
        return series


def _cpus(header: bytes) -> list[str]:
    """The CPUs of the columns, from a header such as `CPU0 CPU2`."""
    return [word[3:].decode() for word in header.split() if word.startswith(b"CPU")]


def _parse(line: bytes, cpus: int) -> _Line | None:
    """The parts of a line; None where it has not `cpus` counts.

    Some kinds, such as ERR, are counted for the whole host: one count and no text.
    """
    label, *rest = line.split(None, cpus + 1) or [b""]
    counts, text = rest[:cpus], b"".join(rest[cpus:]).rstrip()
    whole_host = len(counts) == 1 and not label[:1].isdigit()
    if not counts or (len(counts) < cpus and not whole_host):
        return None
    # The word before the text is a count, and the one after the counts is not.
    if not counts[-1].isdigit() or text.partition(b" ")[0].isdigit():
        return None
    return _Line(label.removesuffix(b":"), counts, text)
