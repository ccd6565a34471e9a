"""What metrics there are: sources, types, their units and names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from plimsoll.errors import InputError
from plimsoll.record.files.table_file import connect
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.query.answer import RunFailure, TimeRange
from plimsoll.record.query.breakout import Breakout
from plimsoll.record.query.metric_query import MEASUREMENT, MetricQuery, in_utc
from plimsoll.record.query.queried_run import QueriedRun, queried_runs
from plimsoll.record.query.run_rows import RunRows, read_in_groups
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.counted import natural_order
from plimsoll.text.mistakes import did_you_mean
from plimsoll.text.plain_text import plain_text

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


_MAX_LISTED = 12


def unknown_metric(
    queried: Sequence[QueriedRun], query: MetricQuery, answering: Collection[str]
) -> InputError | None:
    """The error for a source or type that these runs do not have; None when they have it.

    `answering` are the source requested, and those that answer for it.
    """
    contents, _ = contents_of(queried)
    sources = {plain_text(metric.source) for metric in contents}
    if not contents:
        return InputError(
            f"nothing was recorded there ({query.period})",
            where=_named(queried),
            remedy=_instead_of_none(queried),
        )
    if sources.isdisjoint(answering):
        remedy = did_you_mean(query.source, sources)
        return InputError(
            "there is no such source", where=f"--source {plain_text(query.source)}", remedy=remedy
        )
    types = {plain_text(metric.type) for metric in contents if metric.source in answering}
    if query.type not in types:
        problem = f"{query.source} has no such type"
        remedy = did_you_mean(query.type, types)
        return InputError(problem, where=f"--type {plain_text(query.type)}", remedy=remedy)
    return None


def _instead_of_none(queried: Sequence[QueriedRun]) -> str:
    for run in queried:
        if next(part_paths(run.run.path), None) is not None:
            parts = plain_text(str(run.run.path / "iteration-*" / "sample-*"))
            return f"of a matrix, ask its runs, all or one of them: --run '{parts}'"
    return "choose another --period or --run; plimsoll metrics list shows what was recorded"


def nothing_recorded(
    queried: Sequence[QueriedRun], query: MetricQuery, time: TimeRange, recorded: TimeRange | None
) -> InputError:
    """The error for a metric that there is, but not in this time; `recorded` is when it is."""
    when = "" if recorded is None else f": it was recorded {_from_to(recorded)}"
    return InputError(
        f"nothing was recorded of {query.source} {query.type} {_from_to(time)}",
        where=_named(queried),
        remedy=f"choose another --begin and --end, or leave them out{when}",
    )


def but_for_damage(error: InputError, failures: Sequence[RunFailure]) -> InputError:
    """The error for what no run has, where these cannot be read: they may have it."""
    if not failures:
        return error
    return InputError(
        f"{error.message}; but {len(failures)} of the runs cannot be read, and may have it",
        where=error.where,
        remedy=f"{error.remedy}; damaged is {failures[0].error}",
    )


def unknown_name(query: MetricQuery, breakout: Breakout, known: Iterable[str]) -> InputError:
    """The error for a breakout by a name that no series has."""
    names = sorted(map(plain_text, known))
    has = f"it has {', '.join(names)}" if names else "its series have no names"
    return InputError(
        f"no series of {query.source} {query.type} has the name {breakout.name!r}: {has}",
        where="--breakout",
        remedy=did_you_mean(breakout.name, names) if names else "leave the breakout out",
    )


def unknown_values(query: MetricQuery, known: Mapping[str, Sequence[str]]) -> InputError:
    """The error for breakouts that no series fits; `known` are the values of their names."""
    listed = "; ".join(f"{name}: {_listed(values)}" for name, values in known.items())
    return InputError(
        f"no series of {query.source} {query.type} fits the query",
        where="--breakout",
        remedy=f"choose from {listed} (a regex has to match the whole value)",
    )


def _named(queried: Sequence[QueriedRun]) -> str:
    return queried[0].label if len(queried) == 1 else f"{len(queried)} runs"


def _listed(values: Sequence[str]) -> str:
    first = sorted(values, key=natural_order)[:_MAX_LISTED]
    shown = ", ".join(map(plain_text, first))
    left = len(values) - _MAX_LISTED
    return f"{shown} and {left} more" if left > 0 else shown


def _from_to(time: TimeRange) -> str:
    return f"from {in_utc(time.begin_ms)} to {in_utc(time.end_ms)}"
