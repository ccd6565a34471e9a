"""Rows for people."""

from __future__ import annotations

from collections.abc import Sequence

from contest import Row
from rich.table import Table
from spread import Spread


def row_table(rows: Sequence[Row]) -> Table:
    """One line a row, every figure as min/median/max."""
    table = Table(title="min/median/max of all rounds", title_justify="left", box=None)
    for name in ("work", "peer"):
        table.add_column(name, overflow="fold")
    for name in ("ours", "theirs", "unit", "ratio"):
        table.add_column(name, justify="left" if name == "unit" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.work, row.peer, _words(row.ours), _words(row.theirs), row.unit, _words(row.ratio)
        )
    return table


def _words(spread: Spread | None) -> str:
    if spread is None:
        return "n/a"
    return "/".join(f"{value:.2f}" for value in (spread.min, spread.median, spread.max))
