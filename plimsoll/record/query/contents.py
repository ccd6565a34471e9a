"""What metrics there are: sources, types, their units and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from plimsoll.record.files.table_file import connect
from plimsoll.record.query.answer import RunFailure
from plimsoll.record.query.group_reading import read_in_groups
from plimsoll.record.query.metric_query import MEASUREMENT
from plimsoll.record.query.queried_run import QueriedRun, queried_runs
from plimsoll.record.query.run_rows import RunRows
from plimsoll.record.run.run_directory import RunDirectory

_TABLE = """
    CREATE TEMP TABLE series (source VARCHAR, "type" VARCHAR, class VARCHAR, unit VARCHAR,
        aggregation VARCHAR, names_json VARCHAR)"""
_FILL = """
    INSERT INTO series
    SELECT source, "type", any_value(class), any_value(unit), any_value(aggregation), names_json
    FROM ({rows}) WHERE ?::VARCHAR IS NULL OR source = ? GROUP BY source, "type", names_json"""
_METRICS = """
    SELECT source, "type", any_value(class), any_value(unit), any_value(aggregation),
        count(DISTINCT names_json)
    FROM series GROUP BY source, "type" ORDER BY source, "type" """
_NAMES = """
    SELECT source, "type", pair.key, count(DISTINCT pair.value) FROM (
        SELECT DISTINCT source, "type",
            unnest(map_entries(names_json::JSON::MAP(VARCHAR, VARCHAR))) AS pair FROM series)
    GROUP BY ALL ORDER BY ALL"""


@dataclass(frozen=True, slots=True)
class MetricContents:
    """One type of metric; `names` are those of its series, with how many values each has.

    `series` is how many there are.
    """

    source: str
    type: str
    metric_class: str
    unit: str
    aggregation: str
    names: Mapping[str, int]
    series: int


def metric_contents(
    runs: Sequence[RunDirectory], period: str = MEASUREMENT, source: str | None = None
) -> tuple[list[MetricContents], list[RunFailure]]:
    """The metrics of this period of all these runs together, and the runs that are damaged.

    A series is counted once, however many runs have it. Raises InputError when none has
    the period.
    """
    return contents_of(queried_runs(runs, period), source)


def contents_of(
    queried: Sequence[QueriedRun], source: str | None = None
) -> tuple[list[MetricContents], list[RunFailure]]:
    """The same, of runs whose files are known."""
    with connect() as connection:
        connection.execute(_TABLE)

        def fill(group: Sequence[QueriedRun], rows: RunRows) -> None:
            sql, values = rows.sql(group, {})
            connection.execute(_FILL.format(rows=sql), [*values, source, source])

        failures = read_in_groups(connection, queried, fill)
        return _described(connection), failures


def _described(connection: duckdb.DuckDBPyConnection) -> list[MetricContents]:
    names: dict[tuple[str, str], dict[str, int]] = {}
    for source, kind, name, count in connection.execute(_NAMES).fetchall():
        names.setdefault((source, kind), {})[name] = count
    return [
        MetricContents(
            source, kind, metric_class, unit, aggregation, names.get((source, kind), {}), series
        )
        for source, kind, metric_class, unit, aggregation, series in connection.execute(
            _METRICS
        ).fetchall()
    ]
