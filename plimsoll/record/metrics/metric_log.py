"""The lines in which metrics grow, until they become Parquet (docs/metrics.md).

A file begins with a head, `{"period": …, "wall_minus_monotonic_ns": …, "names": …}`, whose
names are those that all its series have. Then come types and series, each declared once with a
number, and ticks: what one reader found between two of its readings, as numbers of series
and their values. What a kill leaves is complete to its last line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import msgspec

from plimsoll.record.samples.metric_type import MetricSample, MetricType

HEAD = '{"period":'
# About a megabyte of lines, and 65,536 rows or somewhat more. Turning them into Parquet
# takes about half a second of one CPU, during a trial, and 200 MB.
PART_VALUES = 65_536


@dataclass(slots=True)
class _Series:
    metric: MetricType
    reader: str
    names: Mapping[str, str]
    since_ns: int
    present: bool = True
    # Whether an earlier part has declared it.
    continued: bool = False
    # The last that was written.
    value: float | None = None


class MetricLog:
    """Makes the lines of one period. It writes nothing itself.

    After `part_values` values it begins a new part, with a head of its own: the writer
    begins a new file with every head.
    """

    def __init__(
        self,
        period: str,
        wall_minus_monotonic_ns: int,
        names: Mapping[str, str] | None = None,
        *,
        part_values: int = PART_VALUES,
    ) -> None:
        """`names` are those of every series, in addition to what each has of its own."""
        self._head = _line(
            period=period,
            wall_minus_monotonic_ns=wall_minus_monotonic_ns,
            names={name: _text(value) for name, value in (names or {}).items()},
        )
        self._part_values = part_values
        self._series: list[_Series] = []
        self._ids: dict[tuple[str, str, frozenset[tuple[str, str]]], int] = {}
        # Types declared in this part, by number.
        self._types: dict[tuple[str, MetricType], int] = {}
        self._undeclared: list[int] = []
        self._recalled: set[int] = set()
        # Values written in this part; None before the first.
        self._values: int | None = None

    def series(
        self,
        metric: MetricType,
        names: Mapping[str, str],
        since_ns: int,
        reader: str | None = None,
    ) -> int:
        """The number of a series; `since_ns` is when it was first read, in ns since the epoch.

        `reader` is who reads it, where several read what is of one source.
        """
        key = (metric.source, metric.type, frozenset(names.items()))
        number = self._ids.get(key)
        if number is None:
            number = self._ids[key] = len(self._series)
            own = {name: _text(value) for name, value in names.items()}
            self._series.append(_Series(metric, reader or metric.source, own, since_ns))
            self._undeclared.append(number)
        return number

    def samples(self, samples: Sequence[MetricSample], begin_ns: int, end_ns: int) -> list[str]:
        """The lines for samples of any sources over the same time."""
        by_source: dict[str, tuple[list[int], list[float | None]]] = {}
        for sample in samples:
            numbers, values = by_source.setdefault(sample.metric.source, ([], []))
            numbers.append(self.series(sample.metric, sample.names, begin_ns))
            values.append(sample.value)
        return [
            line
            for source, (numbers, values) in by_source.items()
            for line in self.tick(source, begin_ns, end_ns, numbers, values)
        ]

    def tick(
        self,
        reader: str,
        begin_ns: int,
        end_ns: int,
        numbers: Sequence[int],
        values: Sequence[float | None],
    ) -> list[str]:
        """The lines for what `reader` found in [begin_ns, end_ns) since the epoch.

        A value of None says that its series is absent from here on, and so does one that is
        no number. Nothing is known of the time between two ticks that do not share a border.
        """
        full = self._values is None or self._values >= self._part_values
        lines = self._opening() if full else []
        if self._undeclared:
            lines.append(self._declarations())
        changed = {n: _finite(value) for n, value in zip(numbers, values, strict=True)}
        if self._recalled:
            changed = {**self._recall(reader), **changed}
        for number, value in changed.items():
            series = self._series[number]
            series.value, series.present = value, value is not None
        lines.append(
            _line(
                reader=reader,
                begin_ns=begin_ns,
                end_ns=end_ns,
                numbers=list(changed),
                values=list(changed.values()),
            )
        )
        self._values = (self._values or 0) + len(changed)
        return lines

    def _opening(self) -> list[str]:
        """A part tells every series anew, and what those carried on stand at."""
        self._values = 0
        self._types = {}
        fresh = set(self._undeclared)
        self._undeclared = list(range(len(self._series)))
        self._recalled = set()
        for number, series in enumerate(self._series):
            series.continued = number not in fresh
            metric = series.metric
            if metric.carried and not metric.counted and series.value is not None:
                self._recalled.add(number)
        return [self._head]

    def _recall(self, reader: str) -> dict[int, float | None]:
        mine = [n for n in self._recalled if self._series[n].reader == reader]
        self._recalled.difference_update(mine)
        return {number: self._series[number].value for number in mine}

    def _declarations(self) -> str:
        """The line for the series, and their types, that have not been declared in this part."""
        known = len(self._types)
        series = [self._declaration(self._series[number], number) for number in self._undeclared]
        self._undeclared = []
        types = [
            {"kind": kind, "reader": reader, **asdict(metric)}
            for (reader, metric), kind in list(self._types.items())[known:]
        ]
        return _line(types=types, series=series)

    def _declaration(self, series: _Series, number: int) -> dict[str, object]:
        kind = self._types.setdefault((series.reader, series.metric), len(self._types))
        return {
            "number": number,
            "kind": kind,
            "names": series.names,
            "since_ns": series.since_ns if series.present else None,
            "continued": series.continued,
        }


def _finite(value: float | None) -> float | None:
    """None for what JSON has no word for."""
    return value if value is not None and math.isfinite(value) else None


def _text(name: str) -> str:
    """Bytes of the host's that are not text, as Python reads them, are not in JSON either."""
    return name.encode(errors="replace").decode()


def _line(**fields: object) -> str:
    return msgspec.json.encode(fields).decode()


def is_head(line: str) -> bool:
    """Whether a new file begins with this line."""
    return line.startswith(HEAD)
