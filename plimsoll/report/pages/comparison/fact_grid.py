"""A figure over two facts, such as kernel and frame size, as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from plimsoll.analysis.comparison.comparison import FigureComparison
from plimsoll.analysis.comparison.figure_words import shift_words, value_words
from plimsoll.analysis.comparison.side import Side
from plimsoll.report.figures.cell_axis import CELL_INK, column_axis, row_axis
from plimsoll.report.figures.figure import Figure, records
from plimsoll.text.natural_order import natural_order

_LEAST, _MOST = "#eef3f8", "#79b0da"
_ROW, _FRAME = 40, 60


def fact_grid(
    name: str, figure: FigureComparison, sides: Sequence[Side], facts: Sequence[str]
) -> Figure:
    """A cell for each pair of values: the median of its runs. `facts` are the two, rows first."""
    title = f"{figure.name[:1].upper()}{figure.name[1:]} by {facts[0]} and {facts[1]}"
    words = ["baseline", *(_off(figure, place) for place in range(len(sides) - 1))]
    rows = [
        {
            "row": side.group[0],
            "column": side.group[1],
            "value": of.median,
            "text": value_words(of.median, figure.unit),
            "off": off,
            "runs": len(of.values),
        }
        for side, of, off in zip(sides, figure.sides, words, strict=True)
        if of.median is not None
    ]
    down, across = (sorted({side.group[n] for side in sides}, key=natural_order) for n in (0, 1))
    cells = alt.Chart(records(rows)).encode(
        x=column_axis("column", across, facts[1]),
        y=row_axis("row", down, facts[0]),
        tooltip=[
            alt.Tooltip("row:N", title=facts[0]),
            alt.Tooltip("column:N", title=facts[1]),
            alt.Tooltip("text:N", title=figure.name),
            alt.Tooltip("off:N", title="difference"),
            alt.Tooltip("runs:Q"),
        ],
    )
    colour = alt.Color("value:Q", scale=alt.Scale(range=[_LEAST, _MOST], zero=False), legend=None)
    layers = [
        cells.mark_rect(cornerRadius=3).encode(color=colour),
        cells.mark_text(fontSize=12, color=CELL_INK).encode(text=alt.Text("text:N")),
    ]
    caption = (
        "The median of each cell's runs; the stronger the colour, the greater. An empty cell has "
        "no run."
    )
    return Figure(name, title, caption, alt.LayerChart(layer=layers), _FRAME + _ROW * len(down))


def _off(figure: FigureComparison, place: int) -> str:
    of = figure.shifts[place]
    return "unknown" if of is None else shift_words(of, figure.unit)
