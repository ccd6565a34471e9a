"""The charts of a running run: specifications whose data a browser fills in."""

from __future__ import annotations

from typing import Any

import altair as alt

from plimsoll.report.figures.figure import (
    BLUE,
    ORANGE,
    QUANTILE_COLOURS,
    VERMILLION,
    Figure,
)
from plimsoll.report.figures.value_axis import TICKS

# Of the whole chart: labels of growing values take their room from the plot, not from the page.
_HEIGHT = 250
_QUANTILES = ("p50", "p99", "p99.9", "max")
# The data set and the parameters that the page's script sets (static/live.js).
POINTS, BEGIN, END = "points", "time_begin", "time_end"


def live_figures_drawn() -> tuple[Figure, ...]:
    """Rate, latency and losses of the trial that goes on, as yet without data."""
    return (_rate(), _latency(), _losses())


def _x() -> alt.X:
    scale = alt.Scale(domainMin=alt.ExprRef(BEGIN), domainMax=alt.ExprRef(END), nice=False)
    return alt.X("at:Q", title="time in the trial (s)", scale=scale)


def _chart(*layers: alt.Chart) -> alt.LayerChart:
    layered: alt.LayerChart = alt.LayerChart(
        layer=[*layers],
        autosize=alt.AutoSizeParams(type="fit", contains="padding", resize=True),
    )
    return layered.add_params(alt.param(name=BEGIN, value=0), alt.param(name=END, value=10))


def _points() -> Any:
    return alt.NamedData(name=POINTS)


def _rate() -> Figure:
    lines = (
        alt.Chart(_points())
        .mark_line(strokeWidth=1.6, clip=True)
        .encode(
            x=_x(),
            y=alt.Y(
                "value:Q",
                title="both directions (Mpps)",
                scale=alt.Scale(zero=False),
                axis=alt.Axis(format=TICKS),
            ),
            color=alt.Color(
                "series:N", scale=alt.Scale(domain=["sent", "received"], range=[ORANGE, BLUE])
            ),
            strokeDash=alt.StrokeDash(
                "series:N",
                scale=alt.Scale(domain=["sent", "received"], range=[[4, 3], [1, 0]]),
            ),
            tooltip=["series:N", "at:Q", alt.Tooltip("value:Q", format=".6~f")],
        )
    )
    return Figure("live-rate", "Rate", "Frames each interval.", _chart(lines), _HEIGHT)


def _latency() -> Figure:
    lines = (
        alt.Chart(_points())
        .mark_line(strokeWidth=1.6, clip=True)
        .encode(
            x=_x(),
            y=alt.Y("value:Q", title="latency (µs, log)", scale=alt.Scale(type="log", nice=False)),
            color=alt.Color(
                "series:N", scale=alt.Scale(domain=[*_QUANTILES], range=[*QUANTILE_COLOURS])
            ),
            tooltip=["series:N", "at:Q", alt.Tooltip("value:Q", format=".4~f")],
        )
    )
    caption = "Of the probes, or of all streams where none probes; the worst direction."
    return Figure("live-latency", "Latency", caption, _chart(lines), _HEIGHT)


def _losses() -> Figure:
    lines = (
        alt.Chart(_points())
        .mark_line(strokeWidth=1.6, clip=True)
        .encode(
            x=_x(),
            y=alt.Y("value:Q", title="lost (frames/s)", scale=alt.Scale(domainMin=0, nice=True)),
            color=alt.Color(
                "series:N",
                scale=alt.Scale(domain=["lost"], range=[VERMILLION]),
                legend=None,
            ),
            tooltip=["at:Q", alt.Tooltip("value:Q", format=",.0f")],
        )
    )
    # Without losses the axis would have no length.
    floor = (
        alt.Chart(alt.Data(values=[{"value": 1}]))  # type: ignore[no-untyped-call]
        .mark_rule(opacity=0)
        .encode(y="value:Q")
    )
    caption = "Missing when an interval ended; a late frame counts as lost until it comes back."
    return Figure("live-losses", "Losses", caption, _chart(floor, lines), _HEIGHT)
