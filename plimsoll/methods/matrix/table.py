"""The result of a matrix as a table: a row an iteration, a column a parameter that varies."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from plimsoll.methods.matrix.page import MatrixLine, matrix_lines
from plimsoll.methods.matrix.result import MatrixResult


def matrix_table(result: MatrixResult) -> Table:
    """Mean, least and greatest load line of each iteration's samples, and what went wrong.

    What has the same value in every iteration stands below the table.
    """
    lines = matrix_lines(result)
    common = ", ".join(f"{path} = {value}" for path, value in lines.common)
    # As Text: what is in brackets is not markup.
    table = Table(
        title=Text(f"{result.name}: load lines per direction"),
        title_justify="left",
        caption=Text(f"in all: {common}") if common else None,
        caption_justify="left",
    )
    table.add_column("#", justify="right")
    for head in lines.heads:
        table.add_column(Text(head))
    for figure in ("mean", "least", "most", "spread"):
        table.add_column(figure, justify="right")
    table.add_column("samples")
    for row in lines.rows:
        table.add_row(str(row.number), *map(Text, row.values), *row.figures, _samples(row))
    return table


def _samples(row: MatrixLine) -> Text:
    reasons = "".join(f"; {reason}" for reason in row.reasons)
    return Text(f"{row.found} of {len(row.samples)}{reasons}")
