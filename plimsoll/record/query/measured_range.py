"""Over which time a run measured: what a question is about that names no other time."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from plimsoll.record.query.answer import TimeRange
from plimsoll.record.query.asked_run import AskedRun
from plimsoll.record.query.group_reading import read_in_groups
from plimsoll.record.query.run_rows import RunRows, Sql

# The drain after a trial has intervals too, in which nothing is sent.
_SENDING = "source = 'trafficgen' AND \"type\" = 'tx-pps' AND value > 0"


def measured_ranges(
    connection: duckdb.DuckDBPyConnection, asked: Sequence[AskedRun], rows: RunRows
) -> dict[int, tuple[int, int]]:
    """By each run's number when the generator sent, begin and end in ms since the epoch.

    For runs in which it did not, that is all the time for which there is any row.
    """
    ranges = _extents(connection, rows.sql(asked, {}, lambda run: run.files.of_generator), _SENDING)
    others = [run for run in asked if run.number not in ranges]
    return {**ranges, **_extents(connection, rows.sql(others, {}), "true")} if others else ranges


def recorded_range(
    connection: duckdb.DuckDBPyConnection,
    asked: Sequence[AskedRun],
    sources: Sequence[str],
    kind: str,
) -> TimeRange | None:
    """From the first to the last row of a type of metric, of all these runs; None without any."""
    condition = 'list_contains(?, source) AND "type" = ?'
    found: dict[int, tuple[int, int]] = {}

    def look(group: Sequence[AskedRun], rows: RunRows) -> None:
        sql, values = rows.sql(group, {})
        found.update(_extents(connection, (sql, [*values, list(sources), kind]), condition))

    read_in_groups(connection, asked, look)
    if not found:
        return None
    return TimeRange(min(b for b, _ in found.values()), max(e for _, e in found.values()))


def _extents(
    connection: duckdb.DuckDBPyConnection, table: Sql, condition: str
) -> dict[int, tuple[int, int]]:
    sql, values = table
    if not sql:
        return {}
    found = connection.execute(
        "SELECT run, min(begin_ms), max(end_ms) "  # noqa: S608
        f"FROM ({sql}) WHERE {condition} GROUP BY run",
        values,
    ).fetchall()
    return {run: (begin_ms, end_ms) for run, begin_ms, end_ms in found}
