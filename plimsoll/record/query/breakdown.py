"""Draws the series in the table `parts` together to the rows of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import duckdb

from plimsoll.record.metrics.over_time import OverTime, Reduction, own_reduction
from plimsoll.record.query.breakout import Breakout
from plimsoll.record.query.measured_range import PeriodRanges, only_offered
from plimsoll.record.query.metric_query import MetricQuery
from plimsoll.record.query.queried_run import QueriedRun
from plimsoll.record.query.run_rows import RunRows
from plimsoll.record.samples.metric_type import Aggregation

_PACKAGE = files("plimsoll.record.query")
_IN_RANGE = (_PACKAGE / "series_in_range.sql").read_text(encoding="utf-8")
_IN_WINDOWS = (_PACKAGE / "series_in_windows.sql").read_text(encoding="utf-8")
_TABLE = """
    CREATE TEMP TABLE parts
        (run BIGINT, names_json VARCHAR, place BIGINT, amount DOUBLE, covered DOUBLE)"""
# The rows themselves, of quantiles: the times of which the histograms' samples are needed.
_SPANS = """
    CREATE TEMP TABLE spans
        (run BIGINT, period VARCHAR, names_json VARCHAR, begin_ms BIGINT, end_ms BIGINT)"""
_INTO_SPANS = """
    INSERT INTO spans SELECT run, period, names_json, begin_ms, end_ms FROM ({rows})
    WHERE source = ? AND "type" = ? AND end_ms > begin_ms
        AND end_ms > range_begin_ms AND begin_ms < range_begin_ms + range_ms"""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a metric is."""

    source: str
    metric_class: str
    unit: str
    aggregation: Aggregation
    counted: bool

    def reduction(self, query: MetricQuery) -> Reduction:
        """What becomes of a series' values in a window of this question."""
        own = own_reduction(query.type, self.aggregation, counted=self.counted)
        return query.over_time or own


@dataclass(frozen=True, slots=True)
class _Sql:
    """How values become an `amount`, SQL throughout.

    `of` is the amount of rows over the column {time}, `merge` makes one amount of several.
    `in_window` is the value of a series from the columns `amount` and `covered`, `in_range`
    from those of all its windows.
    """

    of: str
    merge: str
    in_window: str
    in_range: str


# What is counted is exact, and the times of rows are rounded to ms: where a row's value is its
# count a second, within what that rounding does to it, the count itself goes into a total.
_EVENTS = (
    "CASE WHEN abs(value * row_ms / 1000 - count) <= 0.001001 * abs(value) THEN count "
    "ELSE value * row_ms / 1000 END"
)
_REDUCTIONS: Mapping[OverTime, _Sql] = {
    "mean": _Sql("sum(value * {time})", "sum", "amount / covered", "sum(amount) / sum(covered)"),
    "max": _Sql("max(value)", "max", "amount", "max(amount)"),
    "min": _Sql("min(value)", "min", "amount", "min(amount)"),
    "total": _Sql(f"sum({_EVENTS} * ({{time}} / row_length))", "sum", "amount", "sum(amount)"),
}


def create_parts(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables that `scan_into_parts` fills: a row for each run, series and window.

    `spans` has the rows of quantiles, which are not to be had from those values.
    """
    connection.execute(_TABLE)
    connection.execute(_SPANS)


def scan_into_parts(
    connection: duckdb.DuckDBPyConnection,
    queried: Sequence[QueriedRun],
    rows: RunRows,
    query: MetricQuery,
    *,
    source: str,
    ranges: Mapping[int, tuple[int, int]],
    offered: PeriodRanges,
) -> Descriptor | None:
    """Add the series of `source` and the query's type, as far as they lie in the ranges.

    Of several trials of a run that is only the time in which they offered frames.

    Returns what the metric is, as the first of its rows says; None without any.
    """
    within = [run for run in queried if run.number in ranges]
    sql, values = only_offered(rows.sql(within, ranges), query, within, offered)
    descriptor = _descriptor(connection, sql, [*values, source, query.type]) if sql else None
    if descriptor is None:
        return None
    if descriptor.reduction(query) == "quantile":
        connection.execute(_INTO_SPANS.format(rows=sql), [*values, source, query.type])
    reduction, alone = _sql(descriptor.reduction(query)), len(queried) == 1
    template = _IN_RANGE if query.resolution == 1 else _IN_WINDOWS
    statement = template.format(
        rows=sql,
        windows=f"{query.resolution:d}",
        first_place="begins // range_ms",
        last_place="(ends - 1) // range_ms",
        # Of a single run it is a constant, and grouping by it would be work.
        run="any_value(run)" if alone else "run",
        by_run="" if alone else "run,",
        merge=reduction.merge,
        **{part: reduction.of.format(time=part) for part in ("head", "tail", "middle")},
    )
    connection.execute(statement, [*values, source, query.type])
    return descriptor


def _descriptor(
    connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[object]
) -> Descriptor | None:
    found = connection.execute(
        "SELECT source, class, unit, aggregation, count IS NOT NULL "  # noqa: S608
        f'FROM ({sql}) WHERE source = ? AND "type" = ? LIMIT 1',
        values,
    ).fetchone()
    return None if found is None else Descriptor(*found)


def value_in_window(reduction: Reduction) -> str:
    """SQL for the value of a series in a window, of its row in `parts`."""
    return _sql(reduction).in_window


def value_in_range(reduction: Reduction) -> str:
    """SQL for the value of a series over the range, of all its rows in `parts`."""
    return _sql(reduction).in_range


def _sql(reduction: Reduction) -> _Sql:
    # Of a quantile `parts` only says which series there are, and in which windows.
    return _REDUCTIONS["max" if reduction == "quantile" else reduction]


_ACROSS: Mapping[Aggregation, str] = {
    "sum": "sum(value)",
    "mean": "avg(value)",
    "max": "max(value)",
    "min": "min(value)",
}
_NAMED = """
    CREATE TEMP TABLE named AS
    SELECT names_json, names_json::JSON::MAP(VARCHAR, VARCHAR) AS names
    FROM (SELECT DISTINCT names_json FROM parts)"""
_NAMES = """
    SELECT pair.key, count(DISTINCT pair.value)
    FROM (SELECT unnest(map_entries(names)) AS pair FROM {table}) GROUP BY ALL ORDER BY ALL"""
# A run whose histograms could not be read has none in `merged`.
_OF_ALL_SAMPLES = """
    CREATE OR REPLACE TEMP TABLE wholes AS SELECT run, key_number, series, value AS whole
    FROM wholes JOIN merged USING (run, key_number) WHERE place IS NULL"""


@dataclass(frozen=True, slots=True)
class BrokenOut:
    """A row of the answer: a value for each breakout; its own, over the range and by window.

    `series` is how many were drawn together.
    """

    run: int
    names: tuple[str | None, ...]
    series: int
    whole: float
    values: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The rows of the answer, in no order, and the names left to break them out by.

    `spread` is how many there were before the filter, and their least and greatest value.
    """

    rows: tuple[BrokenOut, ...]
    remaining: Mapping[str, int]
    spread: tuple[int, float, float]


def known_names(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """The names that the series have, and how many values of each; makes the table `named`."""
    connection.execute(_NAMED)
    return dict(connection.execute(_NAMES.format(table="named")).fetchall())


def known_values(connection: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    """The values of a name, after `known_names`."""
    found = connection.execute("SELECT DISTINCT names[?] FROM named", [name]).fetchall()
    return [value for (value,) in found if value is not None]


def choose_series(connection: duckdb.DuckDBPyConnection, breakouts: Sequence[Breakout]) -> bool:
    """Make the table `chosen`, each series with its key; whether there is any."""
    keys, conditions = [], ["true"]
    key_values: list[object] = []
    condition_values: list[object] = []
    for breakout in breakouts:
        key, values = _key(breakout)
        keys.append(key)
        key_values += values
        condition, values = _condition(breakout)
        conditions.append(condition)
        condition_values += values
    connection.execute(
        "CREATE TEMP TABLE chosen AS SELECT *, dense_rank() OVER (ORDER BY key) AS key_number "  # noqa: S608
        f"FROM (SELECT names_json, names, [{', '.join(keys)}]::VARCHAR[] AS key "
        f"FROM named WHERE {' AND '.join(conditions)})",
        [*key_values, *condition_values],
    )
    return bool(_scalar(connection, "SELECT count(*) FROM chosen"))


def break_down(
    connection: duckdb.DuckDBPyConnection,
    query: MetricQuery,
    aggregation: Aggregation,
    reduction: Reduction,
) -> Breakdown:
    """The rows of the answer, of the series in `chosen`; of quantiles by the table `merged`."""
    across = _ACROSS[aggregation]
    connection.execute(
        "CREATE TEMP TABLE wholes AS "  # noqa: S608
        f"SELECT run, key_number, count(*) AS series, {across} AS whole FROM "
        f"(SELECT run, names_json, {value_in_range(reduction)} AS value FROM parts "
        "GROUP BY run, names_json) JOIN chosen USING (names_json) GROUP BY run, key_number"
    )
    if reduction == "quantile":
        connection.execute(_OF_ALL_SAMPLES)
    ((count, least, greatest),) = connection.execute(
        "SELECT count(*), min(whole), max(whole) FROM wholes"
    ).fetchall()
    if query.filter is not None:
        deletion = f"DELETE FROM wholes WHERE NOT ({query.filter.condition('whole')})"  # noqa: S608
        connection.execute(deletion, [query.filter.limit])
    values = (
        "SELECT run, key_number, place, value FROM merged WHERE place IS NOT NULL"
        if reduction == "quantile"
        else f"SELECT run, key_number, place, {across} AS value FROM "  # noqa: S608
        f"(SELECT *, {value_in_window(reduction)} AS value FROM parts) "
        "JOIN chosen USING (names_json) GROUP BY run, key_number, place"
    )
    return Breakdown(
        rows=tuple(_rows(connection, query, values)),
        remaining=_remaining(connection, {each.name for each in query.breakouts}),
        spread=(count, least, greatest),
    )


def _rows(
    connection: duckdb.DuckDBPyConnection, query: MetricQuery, values_by_place: str
) -> Iterator[BrokenOut]:
    statement = "SELECT DISTINCT key_number, key FROM chosen"
    keys = {number: tuple(key) for number, key in connection.execute(statement).fetchall()}
    if query.resolution == 1:
        found = connection.execute("SELECT run, key_number, series, whole FROM wholes").fetchall()
        for run, number, series, whole in found:
            yield BrokenOut(run, keys[number], series, whole, {0: whole})
        return
    found = connection.execute(
        "SELECT run, key_number, any_value(series), any_value(whole), "  # noqa: S608
        f"list(place), list(value) FROM ({values_by_place}) JOIN wholes USING (run, key_number) "
        "GROUP BY run, key_number"
    ).fetchall()
    for run, number, series, whole, places, values in found:
        by_place = dict(zip(places, values, strict=True))
        yield BrokenOut(run, keys[number], series, whole, by_place)


def _remaining(connection: duckdb.DuckDBPyConnection, broken_out: set[str]) -> dict[str, int]:
    shown = (
        "(SELECT names FROM chosen SEMI JOIN (SELECT names_json FROM parts "
        "JOIN chosen USING (names_json) SEMI JOIN wholes USING (run, key_number)) "
        "USING (names_json))"
    )
    found = connection.execute(_NAMES.format(table=shown)).fetchall()
    return {name: count for name, count in found if name not in broken_out}


def _key(breakout: Breakout) -> tuple[str, list[object]]:
    if breakout.kind == "all-matches":
        return "?", [breakout.pattern]
    return "names[?]", [breakout.name]


def _condition(breakout: Breakout) -> tuple[str, list[object]]:
    if breakout.kind == "every":
        return "true", []
    if breakout.kind == "values":
        return "list_contains(?, names[?])", [list(breakout.values), breakout.name]
    return "regexp_full_match(names[?], ?)", [breakout.name, breakout.pattern]


def _scalar(connection: duckdb.DuckDBPyConnection, statement: str) -> Any:
    return connection.execute(statement).fetchall()[0][0]
