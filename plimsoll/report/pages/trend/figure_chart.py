"""One figure over releases: every run, the level of each stretch, and where it changes."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from plimsoll.analysis.comparison.side import Side
from plimsoll.analysis.comparison.trend.trend import FigureTrend
from plimsoll.analysis.comparison.trend.trend_words import change_words
from plimsoll.report.figures.figure import Figure, records, y_pixel
from plimsoll.report.figures.palette import BLUE, GREEN, NEUTRAL, VERMILLION
from plimsoll.report.figures.value_axis import TICKS, ValueAxis

_LEVELS = ("first level", "better than before", "worse than before")
_COLOURS = (BLUE, GREEN, VERMILLION)
_SHAPES = ("circle", "triangle-up", "triangle-down")
# Wider than this in all, names of releases are slanted.
_MOST_LEVEL_CHARACTERS = 90
_LABEL_LIMIT = 110


def figure_chart(name: str, figure: FigureTrend, releases: Sequence[Side]) -> Figure:
    """A point for each run, by release; a line at each level's median; a rule at each change."""
    title = figure.name[:1].upper() + figure.name[1:]
    if not figure.runs:
        return Figure(name, title, "No run has it.", None)
    axis = ValueAxis.over((value for values in figure.values for value in values), figure.unit)
    labels = [side.label for side in releases]
    x = _release_axis(labels)
    layers = [_changes(figure, labels, x), *_stretches(figure, labels, axis, x)]
    chart = alt.LayerChart(layer=[layer for layer in layers if layer is not None])
    way = "Higher is better." if figure.better == "higher" else "Lower is better."
    caption = f"A point is a run, a line the median of a level, a dashed rule a change. {way}"
    return Figure(name, title, caption, chart)


def _release_axis(labels: list[str]) -> alt.X:
    slanted = sum(map(len, labels)) > _MOST_LEVEL_CHARACTERS
    return alt.X(
        "release:N",
        title=None,
        scale=alt.Scale(type="band", domain=labels, padding=0),
        axis=alt.Axis(labelAngle=-40 if slanted else 0, labelLimit=_LABEL_LIMIT),
    )


def _stretches(
    figure: FigureTrend, labels: list[str], axis: ValueAxis, x: alt.X
) -> list[alt.Chart | None]:
    kinds = [_LEVELS[0], *(f"{change.judgement} than before" for change in figure.changes)]
    points: list[dict[str, object]] = []
    lines: list[dict[str, object]] = []
    for (begin, end), kind in zip(figure.stretches, kinds, strict=True):
        level = figure.level(begin, end)
        for place in range(begin, end):
            row = {"release": labels[place], "level": kind}
            points += [{**row, "value": v / axis.divisor} for v in figure.values[place]]
            if level is not None:
                lines.append({**row, "value": level / axis.divisor})
    values = [value for of_release in figure.values for value in of_release]
    present = [n for n, kind in enumerate(_LEVELS) if kind in kinds]
    names = [_LEVELS[n] for n in present]
    y = alt.Y(
        "value:Q",
        title=axis.unit,
        scale=alt.Scale(domain=axis.domain(values), nice=False),
        axis=alt.Axis(format=TICKS, tickCount=6),
    )
    colour = alt.Color(
        "level:N",
        scale=alt.Scale(domain=names, range=[_COLOURS[n] for n in present]),
        legend=alt.Legend() if len(names) > 1 else None,
    )
    shape = alt.Shape("level:N", scale=alt.Scale(domain=names, range=[_SHAPES[n] for n in present]))
    tooltip = [
        alt.Tooltip("release:N"),
        alt.Tooltip("value:Q", title=axis.unit, format=",.5~g"),
        alt.Tooltip("level:N"),
    ]
    medians = (
        alt.Chart(records(lines))
        .mark_rule(strokeWidth=2.5)
        .encode(x=_edge(x), x2=alt.X2("release:N", bandPosition=1), y=y, color=colour)
    )
    runs = (
        alt.Chart(records(points))
        .mark_point(filled=True, size=44, opacity=0.75)
        .encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip)
    )
    return [medians, runs]


def _changes(figure: FigureTrend, labels: list[str], x: alt.X) -> alt.LayerChart | None:
    if not figure.changes:
        return None
    rows = [
        {"release": labels[change.release], "size": change_words(figure, change).split(" (")[0]}
        for change in figure.changes
    ]
    base = alt.Chart(records(rows)).encode(x=_edge(x))
    rule = base.mark_rule(color=NEUTRAL, strokeDash=[5, 4], strokeWidth=1.4)
    text = base.mark_text(align="left", baseline="top", dx=5, dy=2, fontWeight=600).encode(
        y=y_pixel(0), text=alt.Text("size:N")
    )
    return alt.LayerChart(layer=[rule, text])


def _edge(x: alt.X) -> alt.X:
    """Where a release's band begins, not its middle."""
    edge: alt.X = x.copy()
    edge["bandPosition"] = 0
    return edge
