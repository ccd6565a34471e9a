"""A table of values that are in memory already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.analysis_library import analysis_library
from plimsoll.analysis.column import Column
from plimsoll.analysis.shown import shown, text_table
from plimsoll.analysis.table import FORMS, PREVIEW_ROWS, Table

if TYPE_CHECKING:
    import pyarrow


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
