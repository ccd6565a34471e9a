"""Received rate over a soak, one band a direction, with the load as a rule."""

from __future__ import annotations

import altair as alt

from plimsoll.methods.soak.data import SoakData
from plimsoll.methods.soak.series import RX
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.palette import NEUTRAL, series_scale
from plimsoll.report.figures.time_axis import TimeAxis
from plimsoll.report.figures.value_axis import TICKS

_NAME, _TITLE = "soak-rate", "Received rate"


def soak_rate(data: SoakData) -> Figure:
    """The median of each stretch as a line, the least and the greatest second as a band."""
    series = data.of(RX)
    if not series:
        return Figure(_NAME, _TITLE, "No received rate is recorded yet.", None)
    axis = TimeAxis.over(data.length_s)
    load = data.result.load_pps / 1e6
    rows = [
        {
            "time": each.at_s / axis.divisor,
            "least": each.least / 1e6,
            "median": each.median / 1e6,
            "greatest": each.greatest / 1e6,
            "direction": f"port {direction.of}",
            "trial": each.trial,
        }
        for direction in series
        for each in direction.stretches
    ]
    together = max(each.values for direction in series for each in direction.stretches)
    low = min([load * 0.95, *(float(str(row["least"])) for row in rows)])
    high = max([load * 1.05, *(float(str(row["greatest"])) for row in rows)])
    base = alt.Chart(records(rows)).encode(
        x=axis.x("soak"),
        color=alt.Color("direction:N", scale=series_scale([f"port {each.of}" for each in series])),
        detail=alt.Detail("trial:N"),
    )
    rate = alt.Y(
        "median:Q",
        title="received (Mpps)",
        scale=alt.Scale(domain=[low, high], zero=False, nice=False),
        axis=alt.Axis(format=TICKS),
    )
    line = base.mark_line(strokeWidth=1.6).encode(
        y=rate,
        strokeDash=alt.StrokeDash("direction:N", legend=None),
        tooltip=[
            alt.Tooltip("direction:N"),
            alt.Tooltip("time:Q", title=f"time ({axis.unit})", format=".4~f"),
            alt.Tooltip("least:Q", format=".6~f"),
            alt.Tooltip("median:Q", format=".6~f"),
            alt.Tooltip("greatest:Q", format=".6~f"),
        ],
    )
    band = base.mark_area(opacity=0.25).encode(y=alt.Y("least:Q"), y2=alt.Y2("greatest:Q"))
    rule = (
        alt.Chart(records([{"load": load}]))
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.4, color=NEUTRAL)
        .encode(y=alt.Y("load:Q"))
    )
    caption = (
        f"Medians of up to {together} intervals, and as a band the least and the greatest of "
        f"them; the dashed rule is the load.{' The axis does not start at zero.' if low else ''}"
    )
    return Figure(_NAME, _TITLE, caption, alt.LayerChart(layer=[rule, band, line]))
