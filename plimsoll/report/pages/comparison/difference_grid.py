"""Sides against figures as a heat map, where they are too many for a row each."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.comparison.figure_words import shift_words
from plimsoll.report.figures.cell_axis import CELL_INK, column_axis, row_axis
from plimsoll.report.figures.figure import Figure, records

_NAME, _TITLE = "difference-grid", "Sides and figures"
_WORSE, _SAME, _BETTER = "#f0a878", "#efefec", "#8fd1bd"
_SOFT = "#4d5661"
_ROW, _FRAME = 34, 60
# One figure that is off by far would leave the others without a colour.
_MOST_SHARE = 0.25


def difference_grid(found: Comparison) -> Figure:
    """A cell for each side and figure; its colour is how much better or worse it is."""
    rows = list(_rows(found))
    if not rows:
        return Figure(_NAME, _TITLE, "No figure has positive values on both sides.", None)
    sides = [side.label for side in found.sides[1:]]
    figures = list(dict.fromkeys(str(row["figure"]) for row in rows))
    bound = min(max(abs(float(str(row["gain"]))) for row in rows) or 1.0, _MOST_SHARE)
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
