"""A table of the report as data: pages, the terminal, Markdown, JUnit and CSV files show the same.

A column's names in files never change and have the unit in them (`p99_ns`); what people read is
made of a cell's values where it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from plimsoll.report.figures.figure import Figure
from plimsoll.text.units import (
    format_duration,
    format_ns,
    format_ns_between,
    format_number,
    format_pps,
    format_ratio,
)

CellValue = str | int | float | None


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """`names` are those of a cell's values in files, one or more.

    `show` writes the values for people where none is None; `missing` stands where one is.
    Numbers lean to the right; only a column that `wraps` is broken into lines; `code` has names of
    fields and the like. What is `only_filed` stands in files, and on a page somewhere else than in
    the table.
    """

    names: tuple[str, ...]
    heading: str
    show: Callable[..., str] = str
    number: bool = True
    wraps: bool = False
    missing: str = "-"
    code: bool = False
    only_filed: bool = False

    @property
    def style(self) -> str:
        """The class of its cells on a page."""
        return "n" if self.number else "w" if self.wraps else ""


@dataclass(frozen=True, slots=True)
class Cell:
    """The values of a column's `names`, in order; `text` is for people in place of its `show`.

    `mark` is a verdict's sign before it on a page; parts of `links` are (text, address or "").
    """

    values: tuple[CellValue, ...]
    text: str | None = None
    mark: str = ""
    links: tuple[tuple[str, str], ...] = ()


# What stands in a row, by column; what is no Cell is the one value of its column.
Cells = tuple[Cell | CellValue, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Cells with what a page makes of the whole row: a class, a tip, and lines that unfold."""

    cells: Cells
    style: str = ""
    tip: str = ""
    unfolds: Unfolded | None = None


@dataclass(frozen=True, slots=True)
class Unfolded:
    """What a page unfolds below a row; each of `lines` is (code, text), one of them or both."""

    title: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ShownCell:
    """For people."""

    text: str
    style: str
    code: bool
    mark: str
    links: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReportTable:
    """`name` is its file's.

    `title` is its accessible name, and a heading where it is one of several. A `long` one is
    folded on the page and left out on the terminal. `style` has the classes of the page's.
    """

    name: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[Row | Cells, ...]
    title: str = ""
    long: bool = False
    style: str = "cards"
    narrow: bool = False
    captioned: bool = False

    @property
    def shown_columns(self) -> tuple[ReportColumn, ...]:
        """Those of a page."""
        return tuple(each for each in self.columns if not each.only_filed)

    @property
    def shown_rows(self) -> Iterator[tuple[Row, tuple[ShownCell, ...]]]:
        """Each row with its cells in `shown_columns`."""
        for row in self._rows():
            pairs = zip(self.columns, row.cells, strict=True)
            yield row, tuple(_shown(of, cell) for of, cell in pairs if not of.only_filed)

    def records(self) -> Iterator[dict[str, CellValue]]:
        """Each row's values by their names in files."""
        for row in self._rows():
            record: dict[str, CellValue] = {}
            for column, cell in zip(self.columns, row.cells, strict=True):
                record |= zip(column.names, _cell(cell).values, strict=True)
            yield record

    def words(self, *names: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Headings and rows of the columns with these last names, or all, as text."""
        at = {column.names[-1]: place for place, column in enumerate(self.columns)}
        places = [at[name] for name in names or at]
        return tuple(self.columns[place].heading for place in places), tuple(
            tuple(_shown(self.columns[place], row.cells[place]).text for place in places)
            for row in self._rows()
        )

    def _rows(self) -> Iterator[Row]:
        for row in self.rows:
            yield row if isinstance(row, Row) else Row(row)


def _cell(cell: Cell | CellValue) -> Cell:
    return cell if isinstance(cell, Cell) else Cell((cell,))


def _shown(column: ReportColumn, cell: Cell | CellValue) -> ShownCell:
    of = _cell(cell)
    text = of.text
    if text is None:
        text = column.missing if None in of.values else column.show(*of.values)
    return ShownCell(text, column.style, column.code, of.mark, of.links)


def tables_in(content: object) -> Iterator[ReportTable]:
    """All that have rows, in order, of what a page is made of: mappings, tuples, dataclasses."""
    match content:
        case ReportTable():
            if content.rows:
                yield content
        case str() | Figure():
            return
        case Mapping():
            for each in content.values():
                yield from tables_in(each)
        case Sequence():
            for each in content:
                yield from tables_in(each)
        case _ if is_dataclass(content):
            for each in fields(content):
                yield from tables_in(getattr(content, each.name))


# Columns by what stands in them.
def text(name: str, heading: str, **kept: Any) -> ReportColumn:
    """Short words, on one line."""
    return ReportColumn((name,), heading, number=False, **{"missing": "", **kept})


def sentence(name: str, heading: str, **kept: Any) -> ReportColumn:
    """Words that may go on in further lines."""
    return text(name, heading, wraps=True, **kept)


def filed(name: str) -> ReportColumn:
    """What a page shows elsewhere."""
    return ReportColumn((name,), "", number=False, only_filed=True)


def count(name: str, heading: str) -> ReportColumn:
    """How many."""
    return ReportColumn((name,), heading, lambda value: f"{value:,.0f}")


def number(name: str, heading: str, show: Callable[[Any], str] = format_number) -> ReportColumn:
    """Any other figure."""
    return ReportColumn((name,), heading, show)


def tenths(name: str, heading: str) -> ReportColumn:
    """A mean of whole things, or a time in µs, to a tenth."""
    return ReportColumn((name,), heading, lambda value: f"{value:,.1f}")


def pps(name: str, heading: str) -> ReportColumn:
    """Frames a second."""
    return ReportColumn((name,), heading, format_pps)


def ns(name: str, heading: str) -> ReportColumn:
    """A short time, in ns."""
    return ReportColumn((name,), heading, format_ns)


def ns_between(name: str, heading: str) -> ReportColumn:
    """A time known to lie between two, in ns: `p99_at_least_ns` and `p99_ns` of `p99_ns`."""
    return ReportColumn(
        (f"{name.removesuffix('_ns')}_at_least_ns", name), heading, format_ns_between
    )


def seconds(name: str, heading: str) -> ReportColumn:
    """A duration, in s."""
    return ReportColumn((name,), heading, format_duration)


def ratio(name: str, heading: str) -> ReportColumn:
    """A share of one."""
    return ReportColumn((name,), heading, format_ratio)


def percent(name: str, heading: str, digits: int = 1) -> ReportColumn:
    """A share in percent."""
    return ReportColumn((name,), heading, lambda value: f"{value:.{digits}f} %")


def verdict_cell(verdict: str) -> Cell:
    """With its sign."""
    return Cell((verdict,), mark=verdict)
