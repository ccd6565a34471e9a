"""A table of figures that never cuts one: what does not fit the width goes on below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from plimsoll.report.figures import table as report
from plimsoll.report.pages.standard.sections import PageAnswer

_GAP = 2


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A heading and the side its cells lean to. Only a column that `wraps` may be folded."""

    heading: str
    side: Literal["left", "right"] = "right"
    wraps: bool = False


@dataclass(slots=True)
class FigureTable:
    """Rows under columns; the first column is repeated wherever the others are split."""

    title: str
    columns: Sequence[TableColumn]
    rows: list[tuple[Text, ...]] = field(default_factory=list)

    def add_row(self, *cells: str | Text) -> None:
        """Add one, a cell for each column."""
        self.rows.append(tuple(Text(cell) if isinstance(cell, str) else cell for cell in cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """As many tables below each other as the width makes necessary, mostly one."""
        for place, group in enumerate(self._groups(options.max_width)):
            if place:
                yield ""
            yield self._table(self.title if place == 0 else None, group)

    def _groups(self, width: int) -> Iterator[list[int]]:
        """Columns by index that fit side by side, the first among them each time."""
        group, used = [0], self._width(0)
        for index in range(1, len(self.columns)):
            needed = _GAP + self._width(index)
            if len(group) > 1 and used + needed > width:
                yield group
                group, used = [0], self._width(0)
            group.append(index)
            used += needed
        yield group

    def _width(self, index: int) -> int:
        """The least that shows a column's cells whole, or its words where it wraps."""
        column = self.columns[index]
        cells = [column.heading, *(row[index].plain for row in self.rows)]
        if column.wraps:
            cells = [word for cell in cells for word in cell.split()]
        return max(Text(cell).cell_len for cell in cells)

    def _table(self, title: str | None, group: Sequence[int]) -> Table:
        table = Table(
            title=title, title_justify="left", box=None, pad_edge=False, padding=(0, _GAP, 0, 0)
        )
        for index in group:
            column = self.columns[index]
            wraps = column.wraps or index == 0
            table.add_column(
                column.heading, justify=column.side, no_wrap=not wraps, overflow="fold"
            )
        for row in self.rows:
            table.add_row(*(row[index] for index in group))
        return table


# The tables of a standard test's report, on the terminal.
def print_sections(answer: PageAnswer, console: Console) -> None:
    """The answer, and every section's sentences and tables; long tables stay in the report."""
    console.print()
    console.print(Text(answer.heading, "bold"))
    for warning in answer.warnings:
        console.print(Text(warning, "bold yellow"), soft_wrap=True)
    for sentence in answer.sentences:
        console.print(Text(sentence), soft_wrap=True)
    for section in answer.sections:
        for table in section.tables:
            if not table.long:
                console.print()
                console.print(_figure_table(section.title, table))
        for sentence in section.sentences:
            console.print(Text(sentence, "dim"), soft_wrap=True)


def _figure_table(section: str, table: report.ReportTable) -> FigureTable:
    title = f"{section}: {table.title}" if table.title else section
    columns = [
        TableColumn(each.heading, "right" if each.number else "left", wraps=each.wraps)
        for each in table.shown_columns
    ]
    made = FigureTable(title, columns)
    for _, cells in table.shown_rows:
        made.add_row(*(cell.text for cell in cells))
    return made
