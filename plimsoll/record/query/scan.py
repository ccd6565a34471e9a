"""Reads rows and keeps of them what each series came to in each window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import duckdb

from plimsoll.record.metrics.over_time import OverTime, Reduction, own_reduction
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
