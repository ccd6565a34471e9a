"""One figure of every run, side by side, and by how much each is off the baseline's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from plimsoll.analysis.comparison.comparison import Comparison, FigureComparison
from plimsoll.analysis.comparison.side import Side
from plimsoll.report.figures.figure import GREEN, NEUTRAL, VERMILLION, Figure, records, series_scale
from plimsoll.report.figures.value_axis import TICKS, ValueAxis

_NAME, _TITLE = "differences", "Difference from the baseline, with its 95 % interval"
_OUTCOMES = ("better", "worse", "same", "cannot tell")
_COLOURS = (GREEN, VERMILLION, NEUTRAL, NEUTRAL)
_SHAPES = ("triangle-up", "triangle-down", "circle", "square")
_ROW, _FRAME = 26, 80
_LABEL_LIMIT = 170


def difference_chart(found: Comparison) -> Figure:
    """A row for each figure and side: the shift as a share of the baseline."""
    rows = list(_rows(found))
    if not rows:
        return Figure(_NAME, _TITLE, "No figure has positive values on both sides.", None)
    labels = list(dict.fromkeys(str(row["row"]) for row in rows))
    present = [n for n, each in enumerate(_OUTCOMES) if each in {row["outcome"] for row in rows}]
    domain = [_OUTCOMES[n] for n in present]
    y = alt.Y("row:N", title=None, sort=labels, axis=alt.Axis(labelLimit=_LABEL_LIMIT))
    colours, shapes = (
        alt.Scale(domain=domain, range=[of[n] for n in present]) for of in (_COLOURS, _SHAPES)
    )
    tooltip = [
        alt.Tooltip("row:N", title="figure"),
        alt.Tooltip("estimate:Q", title="difference", format="+.3~%"),
        alt.Tooltip("least:Q", title="at least", format="+.3~%"),
        alt.Tooltip("most:Q", title="at most", format="+.3~%"),
        alt.Tooltip("outcome:N"),
    ]
    encoded: dict[str, Any] = {
        "y": y,
        "color": alt.Color("outcome:N", scale=colours),
        "tooltip": tooltip,
    }
    bounded = [row for row in rows if row["least"] is not None]
    layers = [
        alt.Chart(records([{"at": 0}]))
        .mark_rule(color=NEUTRAL, strokeDash=[5, 4])
        .encode(x=_axis("at")),
        alt.Chart(records(bounded))
        .mark_rule(strokeWidth=2.5)
        .encode(x=_axis("least"), x2=alt.X2("most:Q"), **encoded),
        alt.Chart(records(rows))
        .mark_point(filled=True, size=85, opacity=1)
        .encode(x=_axis("estimate"), shape=alt.Shape("outcome:N", scale=shapes), **encoded),
    ]
    if not bounded:
        del layers[1]
    chart = alt.LayerChart(layer=layers)
    caption = (
        "The median of all pairwise ratios (Hodges and Lehmann, on logarithms). A bar that crosses "
        "the dashed line may be no difference at all; a point without a bar has too few runs for "
        "one. Figures with a value of zero are in the table alone."
    )
    return Figure(_NAME, _TITLE, caption, chart, _FRAME + _ROW * len(labels))


def _axis(field: str) -> alt.X:
    return alt.X(
        f"{field}:Q",
        title="share of the baseline",
        axis=alt.Axis(format="+~%", grid=True, tickCount=7),
    )


def _rows(found: Comparison) -> Iterator[dict[str, object]]:
    several = len(found.sides) > 2
    for figure in found.figures:
        for place, side in enumerate(found.sides[1:]):
            of = figure.shifts[place]
            if of is not None and of.relative is not None:
                yield {
                    "row": f"{figure.name} · {side.label}" if several else figure.name,
                    "estimate": of.relative.estimate,
                    "least": of.relative.least,
                    "most": of.relative.most,
                    "outcome": figure.conclusions[place].kind,
                }


_VALUE_ROW, _VALUE_FRAME = 38, 46
_VALUE_LABEL_LIMIT = 150


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
    y = alt.Y("side:N", title=None, sort=labels, axis=alt.Axis(labelLimit=_VALUE_LABEL_LIMIT))
    colour = alt.Color("side:N", scale=series_scale(labels), legend=None)
    tooltip = [alt.Tooltip("side:N"), alt.Tooltip("value:Q", title=axis.unit, format=",.5~g")]
    runs = alt.Chart(records(points)).mark_point(filled=True, size=52, opacity=0.65)
    middle = alt.Chart(records(medians)).mark_tick(thickness=3, size=24)
    chart = alt.LayerChart(
        layer=[each.encode(x=x, y=y, color=colour, tooltip=tooltip) for each in (middle, runs)]
    )
    caption = "A point is a run, a tick the median of a side."
    return Figure(name, title, caption, chart, _VALUE_FRAME + _VALUE_ROW * len(labels))
