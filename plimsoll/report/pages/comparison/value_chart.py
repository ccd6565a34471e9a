"""One figure of every run, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from plimsoll.analysis.comparison.comparison import FigureComparison
from plimsoll.analysis.comparison.side import Side
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.palette import series_scale
from plimsoll.report.figures.value_axis import TICKS, ValueAxis

_ROW, _FRAME = 38, 46
_LABEL_LIMIT = 150


def value_chart(name: str, figure: FigureComparison, sides: Sequence[Side]) -> Figure:
    """A point for each run in its side's row, and a tick at the side's median."""
    title = figure.name[:1].upper() + figure.name[1:]
    values = [value for side in figure.sides for value in side.values]
    axis = ValueAxis.over(values, figure.unit)
    labels = [side.label for side in sides]
    points = [
        {"side": label, "value": value / axis.divisor}
        for label, side in zip(labels, figure.sides, strict=True)
        for value in side.values
    ]
    medians = [
        {"side": label, "value": side.median / axis.divisor}
        for label, side in zip(labels, figure.sides, strict=True)
        if side.median is not None
    ]
    x = alt.X(
        "value:Q",
        title=axis.unit,
        scale=alt.Scale(domain=axis.domain(values), nice=False),
        axis=alt.Axis(format=TICKS, grid=True, tickCount=6),
    )
    y = alt.Y("side:N", title=None, sort=labels, axis=alt.Axis(labelLimit=_LABEL_LIMIT))
    colour = alt.Color("side:N", scale=series_scale(labels), legend=None)
    tooltip = [alt.Tooltip("side:N"), alt.Tooltip("value:Q", title=axis.unit, format=",.5~g")]
    runs = alt.Chart(records(points)).mark_point(filled=True, size=52, opacity=0.65)
    middle = alt.Chart(records(medians)).mark_tick(thickness=3, size=24)
    chart = alt.LayerChart(
        layer=[each.encode(x=x, y=y, color=colour, tooltip=tooltip) for each in (middle, runs)]
    )
    caption = "A point is a run, a tick the median of a side."
    return Figure(name, title, caption, chart, _FRAME + _ROW * len(labels))
