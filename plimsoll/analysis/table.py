"""Tables that can be had as Arrow, pandas, Polars or plain Python, and their columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.analysis.shown import html_note, html_table, shown, text_table
from plimsoll.errors import InputError
from plimsoll.extras import added_by

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


AnalysisLibrary = Literal["pyarrow", "pandas", "polars"]


def analysis_library(name: AnalysisLibrary) -> Any:
    """The library, which is not a dependency of Plimsoll (docs/decisions/010).

    Raises InputError naming the extra to install.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(
            f"{name} cannot be imported ({error})",
            where="plimsoll's tables",
            remedy=f"{added_by('analysis')}, or take the rows as plain Python: .rows()",
        ) from error


PREVIEW_ROWS = 10
FORMS = "all of it: .polars(), .pandas(), .arrow() or .rows()"


class Table(ABC):
    """Rows with named, typed columns, the same in every form.

    `arrow`, `pandas` and `polars` import what they are named after, and raise InputError
    naming the extra to install where it is missing. Libraries that know Arrow's PyCapsule
    interface take a table as it is: `polars.DataFrame(table)`, `pyarrow.table(table)`.
    """

    @property
    @abstractmethod
    def title(self) -> str:
        """What the table is of."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns' names."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""

    @abstractmethod
    def head(self, count: int = PREVIEW_ROWS) -> list[dict[str, Any]]:
        """The first rows, as `rows` has them."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """All rows in plain Python: values by column, times as datetime in UTC."""

    @abstractmethod
    def arrow(self) -> pyarrow.Table:
        """An Arrow table."""

    def pandas(self) -> pandas.DataFrame:
        """A pandas frame. Whole numbers are Int64, which has a value for absence."""
        pandas, pyarrow = analysis_library("pandas"), analysis_library("pyarrow")
        nullable = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}
        return self.arrow().to_pandas(types_mapper=nullable.get)

    def polars(self) -> polars.DataFrame:
        """A Polars frame."""
        return analysis_library("polars").from_arrow(self.arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's PyCapsule interface."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        preview, total = self.head(), len(self)
        values = [list(row.values()) for row in preview]
        count = f"{total:,} row{'' if total == 1 else 's'}"
        left_out = f"The first {len(preview)}; " if total > len(preview) else ""
        table = html_table(f"{self.title} ({count})", self.columns, values)
        return f"{table}{html_note(f'{left_out}{FORMS}')}"


ColumnKind = Literal["text", "integer", "number", "boolean", "time", "names"]

# The columns of tables of metrics, which a name of a series may be called like.
_OF_THE_RECORD = {
    "run",
    "period",
    "source",
    "type",
    "class",
    "unit",
    "aggregation",
    "begin",
    "end",
    "monotonic_ms",
    "count",
    "value",
}
_PREFIX = "names."


@dataclass(frozen=True, slots=True)
class Column:
    """Values are str, int, float, bool, datetime (UTC), or a dict of names; or None."""

    name: str
    kind: ColumnKind

    def arrow_type(self, pyarrow: Any) -> Any:
        """Its type in Arrow; times are in microseconds, as datetime's are, in all tables."""
        types = {
            "text": pyarrow.string,
            "integer": pyarrow.int64,
            "number": pyarrow.float64,
            "boolean": pyarrow.bool_,
            "time": lambda: pyarrow.timestamp("us", tz="UTC"),
            "names": lambda: pyarrow.map_(pyarrow.string(), pyarrow.string()),
        }
        return types[self.kind]()


def name_column(name: str) -> str:
    """The column of a name: called like it, unless tables of metrics have one of their own.

    That then is `names.type` for the name `type`.
    """
    taken = not name or name in _OF_THE_RECORD or name.startswith(_PREFIX)
    return f"{_PREFIX}{name}" if taken else name


class PlainTable(Table):
    """Rows in plain Python, whose types are stated and not guessed from the values."""

    def __init__(
        self, title: str, columns: Sequence[Column], rows: Iterable[Sequence[object]]
    ) -> None:
        """Each row has a value for each column."""
        self._title = title
        self._columns = tuple(columns)
        self._rows = [tuple(row) for row in rows]

    @property
    def title(self) -> str:
        """What the table is of."""
        return self._title

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self._columns)

    def __len__(self) -> int:
        return len(self._rows)

    def head(self, count: int = PREVIEW_ROWS) -> list[dict[str, Any]]:
        """The first rows, as `rows` has them."""
        return [dict(zip(self.columns, row, strict=True)) for row in self._rows[:count]]

    def rows(self) -> list[dict[str, Any]]:
        """All rows in plain Python: values by column, times as datetime in UTC."""
        return self.head(len(self))

    def arrow(self) -> pyarrow.Table:
        """An Arrow table."""
        pyarrow = analysis_library("pyarrow")
        values = zip(*self._rows, strict=True) if self._rows else ((),) * len(self._columns)
        arrays = [
            pyarrow.array(map(_utf8, each), type=column.arrow_type(pyarrow))
            for column, each in zip(self._columns, values, strict=True)
        ]
        return pyarrow.table(arrays, names=list(self.columns))

    def __repr__(self) -> str:
        preview = text_table(self.columns, self._rows[:PREVIEW_ROWS])
        more = len(self) - PREVIEW_ROWS
        rest = f"\n… and {more:,} more; {FORMS}" if more > 0 else ""
        return f"{shown(self.title)}\n{preview}{rest}"


def _utf8(value: object) -> object:
    """Arrow's text is UTF-8, which the names of files need not be."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
