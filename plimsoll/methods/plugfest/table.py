"""A plugfest on the terminal: a table of each setting, differences, and what has no load line."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.methods.plugfest.grids import (
    STATE_WORDS,
    THROUGHPUT,
    Grid,
    difference_grid,
    duts_of,
    latency_grid,
    setting_of,
    setting_title,
    throughput_grid,
)
from plimsoll.methods.plugfest.result import PlugfestResult
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.plain_text import plain_text


def plugfest_tables(result: PlugfestResult) -> Iterator[FigureTable]:
    """Throughput, latency and differences of each chain, noise and generator."""
    several = len(duts_of(result)) > 1
    for setting in dict.fromkeys(map(setting_of, result.measured)):
        title = setting_title(setting)
        yield _table(throughput_grid(result, setting), title)
        yield _table(latency_grid(result, setting, "p99 latency"), title)
        if several:
            yield _table(difference_grid(result, setting, THROUGHPUT), title)
    lost = [cell for cell in result.cells if cell.reason]
    if lost:
        columns = [
            TableColumn("", "left", wraps=True),
            TableColumn("", "left"),
            TableColumn("why", "left", True),
        ]
        table = FigureTable("Cells without a load line", columns)
        for cell in lost:
            table.add_row(cell.label, STATE_WORDS[cell.state], plain_text(cell.reason or ""))
        yield table


def _table(grid: Grid, setting: str) -> FigureTable:
    flows, frames, *others = grid.heads
    columns = [TableColumn(f"{flows}, {frames.lower()}", "left"), *map(TableColumn, others)]
    table = FigureTable(f"{grid.title}: {setting}", columns)
    for flows_cell, frames_cell, *cells in grid.rows:
        table.add_row(f"{flows_cell.text}, {frames_cell.text}", *(cell.text for cell in cells))
    return table
