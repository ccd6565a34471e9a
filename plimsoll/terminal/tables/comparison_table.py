"""A comparison of runs on the terminal: what else changed, and the figures."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.comparison.comparison import Comparison, FigureComparison
from plimsoll.analysis.comparison.trend.trend import FigureTrend, Trend
from plimsoll.analysis.comparison.trend.trend_words import change_words, p_words
from plimsoll.analysis.comparison.words import (
    conclusion_words,
    kind_words,
    shift_words,
    side_words,
    value_words,
)
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.plain_text import plain_text

# A long value, such as a kernel's command line, is there in full with --json.
_MAX_CHARACTERS = 60


def changes_table(found: Comparison) -> FigureTable:
    """A row for each fact that differs."""
    labels = [TableColumn(plain_text(side.label), "left", wraps=True) for side in found.sides]
    table = FigureTable("What else changed", [TableColumn("", "left"), *labels])
    for change in found.changes:
        cells = (", ".join(values) for values in change.values)
        table.add_row(plain_text(change.place), *(plain_text(c, _MAX_CHARACTERS) for c in cells))
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


def levels_table(found: Trend) -> FigureTable:
    """A row for each figure: its runs, its oldest and its newest level, and how that one is."""
    columns = [
        TableColumn("", "left"),
        *map(TableColumn, ("runs", "changes", "oldest level", "newest")),
    ]
    table = FigureTable("Figures: median of each level", [*columns, TableColumn("", "left")])
    for figure in found.figures:
        oldest, newest = figure.stretches[0], figure.stretches[-1]
        table.add_row(
            figure.name,
            str(figure.runs),
            str(len(figure.changes)),
            _level(figure, *oldest),
            _level(figure, *newest),
            kind_words(figure.kind, figure.within),
        )
    return table


def level_changes_table(found: Trend) -> FigureTable:
    """A row for each change of each figure, from the oldest release on."""
    heads = [
        TableColumn("difference"),
        TableColumn("", "left"),
        TableColumn("p"),
        TableColumn("first run", "left"),
    ]
    table = FigureTable(
        "Changes",
        [TableColumn("", "left"), TableColumn("from release", "left", wraps=True), *heads],
    )
    for figure in found.figures:
        for change in figure.changes:
            table.add_row(
                figure.name,
                plain_text(found.releases[change.release].label),
                change_words(figure, change),
                change.judgement,
                p_words(change.p),
                plain_text(change.first_run.run_id),
            )
    return table


def facts_table(found: Trend) -> FigureTable:
    """A row for each fact that changed with the first figure."""
    columns = [TableColumn(head, "left", wraps=True) for head in ("before", "since")]
    table = FigureTable(
        f"What else changed with the {found.figures[0].name}",
        [TableColumn("", "left"), TableColumn("from release", "left", wraps=True), *columns],
    )
    for at in found.facts:
        release = plain_text(found.releases[at.release].label)
        for change in at.changes:
            cells = (plain_text(", ".join(each), _MAX_CHARACTERS) for each in change.values)
            table.add_row(plain_text(change.place), release, *cells)
    return table


def _level(figure: FigureTrend, begin: int, end: int) -> str:
    level = figure.level(begin, end)
    return "none" if level is None else value_words(level, figure.unit)
