"""The metrics of a run: appended as they happen, one Parquet file a period in the end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from plimsoll.record.append_file import AppendFile
from plimsoll.record.closeable import Closeable
from plimsoll.record.metric_row import MetricRow
from plimsoll.record.record_error import RecordError
from plimsoll.record.run_directory import RunDirectory
from plimsoll.record.table_file import Table

METRICS = Table(
    {
        "period": "VARCHAR",
        "source": "VARCHAR",
        "type": "VARCHAR",
        "class": "VARCHAR",
        "names": "MAP(VARCHAR, VARCHAR)",
        "begin_ms": "BIGINT",
        "end_ms": "BIGINT",
        "value": "DOUBLE",
    }
)


class MetricsWriter(Closeable):
    """Writes one period's rows; `finish` turns them into `metrics/<period>.parquet`.

    Until then they are JSON lines in `metrics/<period>.jsonl`, so that a kill costs
    at most the last interval. Raises RecordError, also when the period exists.
    """

    def __init__(self, run: RunDirectory, period: str) -> None:
        """Begin a period; its name must not have been used in this run."""
        self._growing = run.metrics / f"{period}.jsonl"
        self._finished = run.metrics / f"{period}.parquet"
        for path in (self._growing, self._finished):
            if path.exists():
                raise _exists(path, period)
        self._file = AppendFile(self._growing)

    def append(self, rows: Iterable[MetricRow]) -> None:
        """Record the rows of one interval."""
        self._file.append([_line(row) for row in rows])

    def finish(self) -> Path:
        """Turn the period into Parquet and return its path."""
        self._file.close()
        METRICS.convert(self._growing, self._finished)
        return self._finished

    def close(self) -> None:
        """Stop writing and leave the rows as they are; safe to repeat, also after `finish`."""
        self._file.close()


def trial_period(number: int) -> str:
    """The name of a trial's period."""
    return f"trial-{number:04d}"


def convert_leftovers(run: RunDirectory) -> list[Path]:
    """Turn the periods that a killed run left as JSON lines into Parquet; for the lock's holder."""
    leftovers = sorted(run.metrics.glob("*.jsonl"))
    for path in leftovers:
        METRICS.convert(path, path.with_suffix(".parquet"))
    return [path.with_suffix(".parquet") for path in leftovers]


def read_metrics(
    run: RunDirectory, *, periods: Sequence[str] | None = None, types: Sequence[str] | None = None
) -> list[MetricRow]:
    """The rows of these periods and types (None: all), by time; also those of a running trial.

    Raises RecordError when a file is damaged.
    """
    where, values = _condition(periods, types)
    rows = METRICS.read(
        _of(run, "parquet", periods),
        _of(run, "jsonl", periods),
        where=where,
        values=values,
        order_by="begin_ms, source, type, names::VARCHAR",
    )
    return [MetricRow(*row) for row in rows]


def _of(run: RunDirectory, suffix: str, periods: Sequence[str] | None) -> list[Path]:
    paths = sorted(run.metrics.glob(f"*.{suffix}"))
    return [path for path in paths if periods is None or path.stem in periods]


def _condition(
    periods: Sequence[str] | None, types: Sequence[str] | None
) -> tuple[str, list[object]]:
    wanted = {"period": periods, "type": types}
    chosen = {column: list(names) for column, names in wanted.items() if names is not None}
    where = " AND ".join(f"list_contains(?, {column})" for column in chosen)
    return where or "true", list(chosen.values())


def _line(row: MetricRow) -> str:
    return json.dumps(
        {
            "period": row.period,
            "source": row.source,
            "type": row.type,
            "class": row.metric_class,
            "names": dict(row.names),
            "begin_ms": row.begin_ms,
            "end_ms": row.end_ms,
            "value": row.value,
        },
        separators=(",", ":"),
    )


def _exists(path: Path, period: str) -> RecordError:
    return RecordError(
        f"the period {period} has been recorded already",
        where=str(path),
        remedy="remove that file, or resume from an intact copy",
    )
