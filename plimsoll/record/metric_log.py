"""The lines in which metrics grow, until they become Parquet (docs/metrics.md).

A file begins with a head, `{"period": …, "wall_minus_monotonic_ns": …}`. Then come series,
each told once with a number, and ticks: what one source found between two of its readings,
as numbers of series and their values. What a kill leaves is complete to its last line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from plimsoll.record.metric_sample import MetricSample
from plimsoll.record.metric_type import MetricType

HEAD = '{"period":'
# As Parquet it takes a twentieth of it.
PART_BYTES = 16 * 2**20


@dataclass(slots=True)
class _Series:
    metric: MetricType
    names: Mapping[str, str]
    since_ns: int
    present: bool = True
    # The last that was told.
    value: float | None = None


class MetricLog:
    """Makes the lines of one period. It writes nothing itself.

    After `part_bytes` it begins a new part, with a head of its own: whoever writes the
    lines begins a new file with every head.
    """

    def __init__(
        self, period: str, wall_minus_monotonic_ns: int, *, part_bytes: int = PART_BYTES
    ) -> None:
        self._head = _line(period=period, wall_minus_monotonic_ns=wall_minus_monotonic_ns)
        self._part_bytes = part_bytes
        self._series: list[_Series] = []
        self._ids: dict[tuple[str, str, tuple[tuple[str, str], ...]], int] = {}
        self._untold: list[int] = []
        self._recalled: set[int] = set()
        self._ends_ns: dict[str, int] = {}
        self._length = 0

    def series(self, metric: MetricType, names: Mapping[str, str], since_ns: int) -> int:
        """The number of a series; `since_ns` is when it was first read, in ns since the epoch."""
        key = (metric.source, metric.type, tuple(sorted(names.items())))
        number = self._ids.get(key)
        if number is None:
            number = self._ids[key] = len(self._series)
            self._series.append(_Series(metric, dict(names), since_ns))
            self._untold.append(number)
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
        source: str,
        begin_ns: int,
        end_ns: int,
        numbers: Sequence[int],
        values: Sequence[float | None],
    ) -> list[str]:
        """The lines for what `source` found in [begin_ns, end_ns) since the epoch.

        A value of None says that its series is absent from here on.
        """
        lines = self._opening() if not self._length or self._length >= self._part_bytes else []
        if self._untold:
            lines.append(_line(series=[self._declaration(number) for number in self._untold]))
            self._untold = []
        told = dict(zip(numbers, values, strict=True))
        if self._recalled:
            told = {**self._recall(source), **told}
        for number, value in told.items():
            series = self._series[number]
            series.value, series.present = value, value is not None
        self._ends_ns[source] = end_ns
        lines.append(
            _line(
                source=source,
                begin_ns=begin_ns,
                end_ns=end_ns,
                numbers=list(told),
                values=list(told.values()),
            )
        )
        self._length += sum(map(len, lines)) + len(lines)
        return lines

    def _opening(self) -> list[str]:
        """A part tells every series anew, and what those carried on stand at."""
        self._length = 0
        self._untold = list(range(len(self._series)))
        self._recalled = {
            number
            for number, series in enumerate(self._series)
            if series.metric.carried and not series.metric.counted and series.value is not None
        }
        return [self._head]

    def _recall(self, source: str) -> dict[int, float | None]:
        mine = [n for n in self._recalled if self._series[n].metric.source == source]
        self._recalled.difference_update(mine)
        return {number: self._series[number].value for number in mine}

    def _declaration(self, number: int) -> dict[str, object]:
        series = self._series[number]
        since_ns = max(series.since_ns, self._ends_ns.get(series.metric.source, 0))
        return {
            "number": number,
            **asdict(series.metric),
            "names": series.names,
            "since_ns": since_ns if series.present else None,
        }


def _line(**fields: object) -> str:
    return json.dumps(fields, separators=(",", ":"))


def is_head(line: str) -> bool:
    """Whether a new file begins with this line."""
    return line.startswith(HEAD)
