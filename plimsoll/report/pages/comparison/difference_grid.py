"""Sides against figures as a heat map, where they are too many for a row each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from plimsoll.analysis.comparison.comparison import Comparison, FigureComparison
from plimsoll.analysis.comparison.side import Side
from plimsoll.analysis.comparison.words import shift_words, value_words
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.value_axis import CELL_INK, column_axis, row_axis
from plimsoll.text.counted import natural_order

_NAME, _TITLE = "difference-grid", "Sides and figures"
_WORSE, _SAME, _BETTER = "#f0a878", "#efefec", "#8fd1bd"
_SOFT = "#4d5661"
_ROW, _FRAME = 34, 60
# One figure that is off by far would leave the others without a colour.
_MAX_SHARE = 0.25
_LEAST, _MOST = "#eef3f8", "#79b0da"
_FACT_ROW = 40


def difference_grid(found: Comparison) -> Figure:
    """A cell for each side and figure; its colour is how much better or worse it is."""
    rows = list(_rows(found))
    if not rows:
        return Figure(_NAME, _TITLE, "No figure has positive values on both sides.", None)
    sides = [side.label for side in found.sides[1:]]
    figures = list(dict.fromkeys(str(row["figure"]) for row in rows))
    bound = min(max(abs(float(str(row["gain"]))) for row in rows) or 1.0, _MAX_SHARE)
    x, y = column_axis("figure", figures), row_axis("side", sides)
    colour = alt.Color(
        "gain:Q",
        scale=alt.Scale(domain=[-bound, 0, bound], range=[_WORSE, _SAME, _BETTER], clamp=True),
        legend=None,
    )
    tooltip = [
        alt.Tooltip("side:N"),
        alt.Tooltip("figure:N"),
        alt.Tooltip("text:N", title="difference"),
        alt.Tooltip("outcome:N"),
    ]
    base = alt.Chart(records(rows)).encode(x=x, y=y, tooltip=tooltip)
    certain = alt.datum.outcome
    cells = base.mark_rect(cornerRadius=3).encode(color=colour)
    text = base.mark_text(fontSize=12).encode(
        text=alt.Text("short:N"),
        color=alt.condition(
            (certain == "better") | (certain == "worse"), alt.value(CELL_INK), alt.value(_SOFT)
        ),
    )
    caption = (
        f"Each side against {found.sides[0].label}. Green is better, orange worse, the stronger "
        "the more; ▲ and ▼ mark what is certain by its 95 % interval, ≈ what is the same, and ? "
        "what cannot tell."
    )
    return Figure(
        _NAME, _TITLE, caption, alt.LayerChart(layer=[cells, text]), _FRAME + _ROW * len(sides)
    )


def _rows(found: Comparison) -> Iterator[dict[str, object]]:
    marks = {"better": "▲ ", "worse": "▼ ", "same": "≈ ", "cannot tell": "? "}
    for figure in found.figures:
        for place, side in enumerate(found.sides[1:]):
            of, conclusion = figure.shifts[place], figure.conclusions[place]
            if of is None or of.relative is None:
                continue
            words = shift_words(of, figure.unit)
            yield {
                "side": side.label,
                "figure": figure.name,
                "gain": of.relative.estimate * (1 if figure.better == "higher" else -1),
                "text": words,
                "short": marks.get(conclusion.kind, "") + words.partition(" (")[0],
                "outcome": conclusion.kind,
            }


# A figure over two facts, such as kernel and frame size, as a heat map.
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
    return Figure(
        name, title, caption, alt.LayerChart(layer=layers), _FRAME + _FACT_ROW * len(down)
    )


def _off(figure: FigureComparison, place: int) -> str:
    of = figure.shifts[place]
    return "unknown" if of is None else shift_words(of, figure.unit)
