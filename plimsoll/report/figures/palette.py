"""Colours that the colour-blind can distinguish (after Okabe and Ito), on light and dark paper.

Wherever colour carries a meaning, shape or dashes carry it as well.
"""

from __future__ import annotations

from typing import Any

import altair as alt

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
