"""The metrics of a run as they were recorded: long form, a row for each value and its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from plimsoll.analysis.shown import shown
from plimsoll.analysis.table import (
    FORMS,
    PREVIEW_ROWS,
    Column,
    Table,
    analysis_library,
    name_column,
)
from plimsoll.analysis.when import When, unix_ms, utc_of_ns
from plimsoll.errors import InputError
from plimsoll.record.metrics.metrics import query_metrics, query_metrics_arrow
from plimsoll.record.run.run_directory import RunDirectory, trial_period

if TYPE_CHECKING:
    import pyarrow


NamesAs = Literal["columns", "map"]

_BEFORE_NAMES = (
    Column("period", "text"),
    Column("source", "text"),
    Column("type", "text"),
    Column("class", "text"),
    Column("unit", "text"),
    Column("aggregation", "text"),
)
_AFTER_NAMES = (
    Column("begin", "time"),
    Column("end", "time"),
    Column("monotonic_ms", "integer"),
    Column("count", "integer"),
    Column("value", "number"),
)
# The record's columns for times, which tables have in microseconds.
_TIMES = {"begin": "begin_ms * 1000", "end": "end_ms * 1000"}
_NS_PER_US = 1000


@dataclass(frozen=True, slots=True)
class RowSelection:
    """Which rows: of these periods, sources and types (None: all) that lie in a time.

    A row is in the time when any part of it is; times are in ms since the epoch.
    """

    periods: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    begin_ms: int | None = None
    end_ms: int | None = None

    def condition(self) -> tuple[str, list[object]]:
        """As SQL, with a `?` for each value."""
        tests = (
            ("list_contains(?, period)", self.periods),
            ("list_contains(?, source)", self.sources),
            ('list_contains(?, "type")', self.types),
            ("end_ms > ?", self.begin_ms),
            ("begin_ms < ?", self.end_ms),
        )
        given = [(test, value) for test, value in tests if value is not None]
        values: list[object] = [list(v) if isinstance(v, tuple) else v for _, v in given]
        return " AND ".join(test for test, _ in given) or "true", values


class MetricRows(Table):
    """Rows of the metrics, read on demand, also those of a running trial.

    `begin` and `end` are UTC timestamps; `monotonic_ms` is the end on the measuring host's
    monotonic clock, `count` the whole number behind the value of a counted metric. A row is
    of any length: what stayed the same is one row. Rows are by source, type, names and time.

    Names (a metric's breakouts) are columns of their own, null where a metric has none of
    that name; with `names_as="map"` they are one column `names` instead.
    """

    def __init__(
        self, run: RunDirectory, selection: RowSelection, names_as: NamesAs = "columns"
    ) -> None:
        self._run = run
        self._selection = selection
        self._names_as = names_as

    @property
    def title(self) -> str:
        """What the table is of."""
        parts = [*(self._selection.sources or ()), *(self._selection.types or ())]
        return f"Rows of {self._run.run_id}: {' '.join(parts) or 'all metrics'}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self._columns)

    def __len__(self) -> int:
        where, values = self._selection.condition()
        found = self._ask(f"SELECT count(*) FROM rows WHERE {where}", values)  # noqa: S608
        return int(found[0][0]) if found else 0

    def head(self, count: int = PREVIEW_ROWS) -> list[dict[str, Any]]:
        """The first rows, as `rows` has them."""
        return self._read(count)

    def rows(self) -> list[dict[str, Any]]:
        """All rows in plain Python: values by column, times as datetime in UTC."""
        return self._read(None)

    def arrow(self) -> pyarrow.Table:
        """An Arrow table, straight from the files."""
        pyarrow = analysis_library("pyarrow")
        schema = pyarrow.schema([(c.name, c.arrow_type(pyarrow)) for c in self._columns])
        statement, values = self._select(None)
        found = query_metrics_arrow(self._run, statement, values, periods=self._selection.periods)
        if found is None:
            return schema.empty_table()
        return found.rename_columns(list(self.columns)).cast(schema)

    def __repr__(self) -> str:
        return f"<{shown(self.title)}; {FORMS}>"

    @cached_property
    def _names(self) -> tuple[str, ...]:
        where, values = self._selection.condition()
        each = f"SELECT DISTINCT unnest(map_keys(names)) FROM rows WHERE {where}"  # noqa: S608
        found = sorted(self._ask(each, values))
        return tuple(name for (name,) in found)

    @property
    def _columns(self) -> tuple[Column, ...]:
        if self._names_as == "map":
            return (*_BEFORE_NAMES, Column("names", "names"), *_AFTER_NAMES)
        named = (Column(name_column(name), "text") for name in self._names)
        return (*_BEFORE_NAMES, *named, *_AFTER_NAMES)

    def _select(self, limit: int | None) -> tuple[str, list[object]]:
        where, values = self._selection.condition()
        names = ["names"] if self._names_as == "map" else ["names[?]"] * len(self._names)
        parameters = [] if self._names_as == "map" else list(self._names)
        selected = [
            *(f'"{column.name}"' for column in _BEFORE_NAMES),
            *names,
            *(_expression(column) for column in _AFTER_NAMES),
        ]
        statement = (
            f"SELECT {', '.join(selected)} FROM rows WHERE {where} "  # noqa: S608
            'ORDER BY source, "type", names::VARCHAR, begin_ms'
        )
        if limit is not None:
            return f"{statement} LIMIT ?", [*parameters, *values, limit]
        return statement, [*parameters, *values]

    def _read(self, limit: int | None) -> list[dict[str, Any]]:
        columns = self._columns
        return [
            {c.name: _plain(c, value) for c, value in zip(columns, row, strict=True)}
            for row in self._ask(*self._select(limit))
        ]

    def _ask(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        return query_metrics(self._run, statement, values, periods=self._selection.periods)


def _expression(column: Column) -> str:
    return _TIMES.get(column.name, f'"{column.name}"')


def _plain(column: Column, value: Any) -> Any:
    return utc_of_ns(value * _NS_PER_US) if column.kind == "time" else value


Text = TypeVar("Text", bound=str)
# One or several; None for all.
Texts = str | Sequence[str] | None
# A trial by its number, a period by its name, or several of them; None for all.
Periods = int | str | Sequence[int | str] | None


def row_selection(
    *,
    source: Texts,
    type: Texts,
    periods: Periods,
    begin: When | None,
    end: When | None,
) -> RowSelection:
    """The same for the record. Raises InputError where a time is none."""
    begin_ms = None if begin is None else unix_ms(begin, "begin")
    end_ms = None if end is None else unix_ms(end, "end")
    if begin_ms is not None and end_ms is not None and begin_ms >= end_ms:
        raise InputError(
            f"the time ends ({end_ms} ms) before it begins ({begin_ms} ms)",
            where="end",
            remedy="give an end after the start",
        )
    return RowSelection(period_names(periods), several(source), several(type), begin_ms, end_ms)


def period_names(periods: Periods) -> tuple[str, ...] | None:
    """As the record names them."""
    if periods is None:
        return None
    several = [periods] if isinstance(periods, int | str) else periods
    return tuple(trial_period(each) if isinstance(each, int) else each for each in several)


def several(given: Text | Sequence[Text] | None) -> tuple[Text, ...] | None:
    """One or several texts as several; None as it is."""
    if given is None:
        return None
    return (given,) if isinstance(given, str) else tuple(given)
