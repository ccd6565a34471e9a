"""A table that can be had as Arrow, pandas, Polars or plain Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.analysis_library import analysis_library
from plimsoll.analysis.shown import html_note, html_table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

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
