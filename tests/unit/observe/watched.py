"""An observer under test: read once a second of a made-up time, its rows as DuckDB gives them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from plimsoll.observe.reading.observer import ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricRow, MetricsWriter, read_metrics
from plimsoll.record.run.run_directory import RunDirectory

_S = 10**9


@dataclass(frozen=True)
class Rows:
    """All rows so far, in seconds since the first reading."""

    rows: tuple[MetricRow, ...]

    def matching(self, kind: str, /, **names: str) -> list[MetricRow]:
        return [r for r in self.rows if r.type == kind and names.items() <= dict(r.names).items()]

    def of(self, kind: str, /, **names: str) -> dict[str, float]:
        """The last value of each `type` among these."""
        return {row.names["type"]: row.value for row in self.matching(kind, **names)}

    def times(self, kind: str, /, **names: str) -> list[tuple[int, int]]:
        """When there were rows of a series."""
        return [(r.begin_ms // 1000, r.end_ms // 1000) for r in self.matching(kind, **names)]

    def counts(self, kind: str, /, **names: str) -> list[int | None]:
        return [row.count for row in self.matching(kind, **names)]

    def values(self, kind: str, /, **names: str) -> list[float]:
        return [row.value for row in self.matching(kind, **names)]


class Watched:
    """Constructed, and read for the first time at second 0."""

    def __init__(self, observer: type[Observer], host: ObservedHost) -> None:
        log = MetricLog("trial-0001", 0, {"hostname": "host", "cstype": "profiler"})
        self._readings = Readings(observer.source, log)
        self._lines: list[str] = []
        self._second = 0
        self._readings.begin(0)
        self.observer = observer(host, self._readings)
        self._read()

    def read(self) -> Rows:
        """Read it a second later."""
        self._second += 1
        self._read()
        with _written(self._lines) as run:
            return Rows(tuple(read_metrics(run)))

    def _read(self) -> None:
        self._readings.begin(self._second * _S)
        self.observer.read(self._readings)
        self._lines += self._readings.lines()


@contextmanager
def _written(lines: list[str]) -> Iterator[RunDirectory]:
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory.create(Path(folder), "observed", {})
        with MetricsWriter(run, "trial-0001", "host") as writer:
            writer.append(lines)
            yield run
