"""Draws the series in the table `parts` together to the rows of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from plimsoll.record.metrics.over_time import Reduction
from plimsoll.record.query.breakout import Breakout
from plimsoll.record.query.metric_query import MetricQuery
from plimsoll.record.query.scan import value_in_range, value_in_window
from plimsoll.record.samples.metric_type import Aggregation

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
