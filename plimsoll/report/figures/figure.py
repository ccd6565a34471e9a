"""A figure of the report: one chart with its title and a sentence about it.

Colours that the colour-blind can distinguish (after Okabe and Ito), on light and dark paper.
Wherever colour carries a meaning, shape or dashes carry it as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

HEIGHT = 260
# Steps of a curve over a logarithmic axis: one for each pixel or two.
MAX_STEPS = 400
# One part in ten million: finer than a pixel of any screen, and than any tooltip here.
_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, or the sentence that stands in its place when there is nothing to draw.

    `name` is a file name; `caption` says how to read the chart, or why there is none;
    `height` is in pixels.
    """

    name: str
    title: str
    caption: str
    chart: alt.Chart | alt.LayerChart | None
    height: int = HEIGHT

    def specification(self) -> dict[str, Any] | None:
        """The Vega-Lite specification without a theme, as wide as its place; None without chart."""
        if self.chart is None:
            return None
        # It would check every row of data against the schema.
        with unchecked():
            sized = self.chart.properties(width="container", height=self.height)
            specification: dict[str, Any] = sized.to_dict(validate=False)
        specification.pop("config", None)
        # What a screen reader says of it.
        specification["description"] = self.title
        return specification


def unchecked() -> AbstractContextManager[None]:
    """Have Altair not check each part of a chart as it is made; the tests check charts whole."""
    return debug_mode(False)


def y_pixel(pixel: float) -> alt.YValue:
    """A height in pixels from the top, as the channel itself, for which Altair need not search."""
    return alt.YValue(pixel)  # type: ignore[no-untyped-call]


def y2_pixel(pixel: float) -> alt.Y2Value:
    """The same for a mark's other end."""
    return alt.Y2Value(pixel)  # type: ignore[no-untyped-call]


class _Rows(alt.Data):
    """Rows that Altair takes as they are: it would copy and look through them at every step."""

    def __deepcopy__(self, _: object = None) -> _Rows:
        return self

    def to_dict(self, *_: object, **__: object) -> dict[str, Any]:
        """Of Vega-Lite's inline data."""
        return {"values": self._kwds["values"]}


def records(rows: Sequence[Mapping[str, object]]) -> alt.Data:
    """Rows as data inside the chart, so that the page needs no other file."""
    values = [{name: _short(value) for name, value in row.items()} for row in rows]
    # Here, too, it would check every row.
    with unchecked():
        return _Rows(values=values)  # type: ignore[no-untyped-call]


def evenly(rows: list[dict[str, object]], most: int = MAX_STEPS) -> list[dict[str, object]]:
    """At most so many rows of a cumulative curve, its first and its last among them."""
    if len(rows) <= most:
        return rows
    last = len(rows) - 1
    return [rows[round(n * last / (most - 1))] for n in range(most)]


def _short(value: object) -> object:
    """A number to the digits that a chart can show; sixteen of them are half a page's weight."""
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


BLUE = "#2b7bba"
VERMILLION = "#d55e00"
GREEN = "#1a9e77"
ORANGE = "#e69f00"
PURPLE = "#b8609a"
SKY = "#56b4e9"
NEUTRAL = "#8a919c"

SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION)
VERDICTS = ("pass", "fail", "invalid", "none", "undecided")
VERDICT_COLOURS = (GREEN, VERMILLION, NEUTRAL, SKY, PURPLE)
VERDICT_SHAPES = ("circle", "cross", "triangle-up", "square", "diamond")
QUANTILE_COLOURS = (SKY, BLUE, ORANGE, VERMILLION)

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def series_scale(names: list[str]) -> alt.Scale:
    """One colour a name, in order; they repeat beyond six."""
    return alt.Scale(domain=names, range=[SERIES[n % len(SERIES)] for n in range(len(names))])


def theme(ink: str, grid: str) -> dict[str, Any]:
    """A Vega-Lite configuration for paper on which text is `ink` and lines are `grid`."""
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "padding": {"left": 4, "right": 12, "top": 4, "bottom": 4},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titleFontWeight": 500,
            "titlePadding": 8,
            "gridColor": grid,
            "domainColor": grid,
            "tickColor": grid,
            "labelOverlap": "greedy",
            "labelSeparation": 6,
            "titleLimit": 320,
            "aria": False,
        },
        # The chart as a whole is named; ten thousand named marks would help no reader.
        "mark": {"aria": False},
        "axisX": {"grid": False},
        "legend": {
            "orient": "top",
            "direction": "horizontal",
            "title": None,
            "labelColor": ink,
            "labelFontSize": 12,
            "labelLimit": 320,
            "symbolStrokeWidth": 2,
            "symbolBaseFillColor": ink,
            "symbolBaseStrokeColor": ink,
            "offset": 8,
            "aria": False,
        },
        "text": {"color": ink, "fontSize": 11},
    }


LIGHT = theme("#3c4450", "#e3e6ea")
DARK = theme("#c3c9d2", "#343a44")
PRINT = {**LIGHT, "background": "white"}
