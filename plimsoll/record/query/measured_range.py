"""Over which time a run measured: what a question is about that names no other time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb

from plimsoll.record.query.answer import TimeRange
from plimsoll.record.query.metric_query import MetricQuery
from plimsoll.record.query.queried_run import QueriedRun
from plimsoll.record.query.run_rows import RunRows, Sql, read_in_groups
from plimsoll.record.trials.trial_parts import OFFERING

# Begin and end in ms since the epoch, by a run's number and the name of its period.
PeriodRanges = Mapping[tuple[int, str], tuple[int, int]]

_OFFERING = f"source = '{OFFERING.source}' AND \"type\" = '{OFFERING.type}'"
# Of a trial that goes on, was killed, or that an earlier version recorded. The drain after a
# trial has rows too, in which hardly anything is sent.
_SENDING = "source = 'trafficgen' AND \"type\" = 'tx-pps' AND value > 0"


def offered_ranges(
    connection: duckdb.DuckDBPyConnection, queried: Sequence[QueriedRun], rows: RunRows
) -> PeriodRanges:
    """When the generator offered frames, as each trial recorded it.

    Of trials that recorded no such range it is the time of the rows in which frames were
    sent; of runs without these, all the time for which there is any row.
    """
    of_generator = rows.sql(queried, {}, lambda run: run.files.of_generator)
    ranges = {
        **_extents(connection, of_generator, _SENDING),
        **_extents(connection, of_generator, _OFFERING),
    }
    sending = {number for number, _ in ranges}
    others = [run for run in queried if run.number not in sending]
    return {**ranges, **_extents(connection, rows.sql(others, {}), "true")} if others else ranges


def measured_ranges(ranges: PeriodRanges) -> dict[int, tuple[int, int]]:
    """By each run's number, from the begin of its first range to the end of its last."""
    whole: dict[int, tuple[int, int]] = {}
    for (number, _), (begin_ms, end_ms) in ranges.items():
        first_ms, last_ms = whole.get(number, (begin_ms, end_ms))
        whole[number] = (min(first_ms, begin_ms), max(last_ms, end_ms))
    return whole


def only_offered(
    table: Sql, query: MetricQuery, queried: Sequence[QueriedRun], ranges: PeriodRanges
) -> Sql:
    """The table of RunRows without what lies between the ranges of several trials of a run.

    That is drains, and hosts observed while nothing was sent. A time that the question itself
    states is taken as it is, and so are periods in which nothing was sent.
    """
    numbers = {run.number for run in queried}
    cut = [(*key, *span) for key, span in ranges.items() if key[0] in numbers]
    several = len(cut) > len({number for number, *_ in cut})
    sql, values = table
    if query.fixed_range is not None or not several or not sql:
        return table
    columns = [list(column) for column in zip(*cut, strict=True)]
    statement = (
        "SELECT each.* REPLACE ("  # noqa: S608
        "greatest(each.begin_ms, coalesce(offered.begin_ms, each.begin_ms)) AS begin_ms, "
        "least(each.end_ms, coalesce(offered.end_ms, each.end_ms)) AS end_ms) "
        f"FROM ({sql}) AS each LEFT JOIN "
        "(SELECT unnest(?::BIGINT[]) AS run, unnest(?::VARCHAR[]) AS period, "
        "unnest(?::BIGINT[]) AS begin_ms, unnest(?::BIGINT[]) AS end_ms) AS offered "
        "ON each.run = offered.run AND each.period = offered.period"
    )
    return statement, [*values, *columns]


def recorded_range(
    connection: duckdb.DuckDBPyConnection,
    queried: Sequence[QueriedRun],
    sources: Sequence[str],
    kind: str,
) -> TimeRange | None:
    """From the first to the last row of a type of metric, of all these runs; None without any."""
    condition = 'list_contains(?, source) AND "type" = ?'
    found: dict[tuple[int, str], tuple[int, int]] = {}

    def look(group: Sequence[QueriedRun], rows: RunRows) -> None:
        sql, values = rows.sql(group, {})
        found.update(_extents(connection, (sql, [*values, list(sources), kind]), condition))

    read_in_groups(connection, queried, look)
    if not found:
        return None
    return TimeRange(min(b for b, _ in found.values()), max(e for _, e in found.values()))


def _extents(
    connection: duckdb.DuckDBPyConnection, table: Sql, condition: str
) -> dict[tuple[int, str], tuple[int, int]]:
    sql, values = table
    if not sql:
        return {}
    found = connection.execute(
        "SELECT run, period, min(begin_ms), max(end_ms) "  # noqa: S608
        f"FROM ({sql}) WHERE {condition} GROUP BY run, period",
        values,
    ).fetchall()
    return {(run, period): (begin_ms, end_ms) for run, period, begin_ms, end_ms in found}
