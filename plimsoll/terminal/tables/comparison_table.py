"""A comparison of runs on the terminal: what else changed, and the figures."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.comparison.comparison import Comparison, FigureComparison
from plimsoll.analysis.comparison.conclusion_words import conclusion_words
from plimsoll.analysis.comparison.figure_words import shift_words, side_words
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.plain_text import plain_text

# A long value, such as a kernel's command line, is there in full with --json.
_MOST_CHARACTERS = 60


def changes_table(found: Comparison) -> FigureTable:
    """A row for each fact that differs."""
    labels = [TableColumn(plain_text(side.label), "left", wraps=True) for side in found.sides]
    table = FigureTable("What else changed", [TableColumn("", "left"), *labels])
    for change in found.changes:
        cells = (", ".join(values) for values in change.values)
        table.add_row(plain_text(change.place), *(plain_text(c, _MOST_CHARACTERS) for c in cells))
    return table


def figures_table(found: Comparison) -> FigureTable:
    """A row for each figure: every side's median and range, and how far it is off the first's."""
    base, *others = found.sides
    columns = [TableColumn("", "left"), TableColumn(plain_text(base.label))]
    for side in others:
        columns += [
            TableColumn(plain_text(side.label)),
            TableColumn("difference"),
            TableColumn("", "left"),
        ]
    table = FigureTable("Figures: median (least to most)", columns)
    for figure in found.figures:
        table.add_row(*_cells(figure))
    return table


def _cells(figure: FigureComparison) -> Iterator[str]:
    base, *others = figure.sides
    yield figure.name
    yield side_words(base, figure.unit)
    for place, side in enumerate(others):
        of = figure.shifts[place]
        yield side_words(side, figure.unit)
        yield "" if of is None else shift_words(of, figure.unit)
        yield conclusion_words(figure.conclusions[place])
