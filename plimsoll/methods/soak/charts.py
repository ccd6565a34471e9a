"""Latency over a soak, of the probe streams."""

from __future__ import annotations

import altair as alt

from plimsoll.methods.soak.data import SoakData
from plimsoll.methods.soak.series import MAX, P50, P99, RX, SeriesStretch
from plimsoll.report.figures.figure import (
    NEUTRAL,
    QUANTILE_COLOURS,
    VERDICT_COLOURS,
    VERDICT_SHAPES,
    VERDICTS,
    Figure,
    records,
    series_scale,
    y2_pixel,
    y_pixel,
)
from plimsoll.report.figures.time_axis import TimeAxis
from plimsoll.report.figures.value_axis import MIN_US, TICKS, log_axis
from plimsoll.text.units import format_duration

_NAME, _TITLE = "soak-latency", "Latency"
_LINES = ("p50", "p99", "worst p99", "max")
_RATES, _RATES_TITLE = "soak-rate", "Received rate"
_STRIP, _STRIP_TITLE = "soak-windows", "Windows"
_STRIP_HEIGHT = 46


def soak_latency(data: SoakData) -> Figure:
    """p50 and p99 of usual intervals, the worst p99 and the maximum, log scale, µs."""
    rows = [
        row
        for kind, pick in ((P50, _usual_p50), (P99, _p99s), (MAX, _worst))
        for series in data.of(kind, data.probes)
        for each in series.stretches
        for row in _rows(data, series.of, each, pick(each))
    ]
    if not rows:
        return Figure(_NAME, _TITLE, "No latency is recorded yet.", None)
    axis = TimeAxis.over(data.length_s)
    values = [float(str(row["latency"])) for row in rows]
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.4)
        .encode(
            x=axis.x("soak"),
            y=log_axis("latency", "latency (µs, log)", values),
            color=alt.Color(
                "line:N",
                sort=list(_LINES),
                scale=alt.Scale(domain=list(_LINES), range=list(QUANTILE_COLOURS)),
            ),
            strokeDash=alt.StrokeDash("stream:N", legend=None),
            detail=alt.Detail("trial:N"),
            tooltip=[
                alt.Tooltip("stream:N"),
                alt.Tooltip("line:N"),
                alt.Tooltip("time:Q", title=f"time ({axis.unit})", format=".4~f"),
                alt.Tooltip("latency:Q", title="latency (µs)", format=",.4~f"),
            ],
        )
    )
    together = max(s.values for each in data.of(MAX, data.probes) for s in each.stretches)
    caption = (
        f"Of up to {together} intervals each, of {', '.join(data.probes)}: the median p50 and "
        "p99, the worst p99 and the maximum. Samples taken across a stall of the tester are "
        "left out."
    )
    return Figure(_NAME, _TITLE, caption, chart)


def _usual_p50(stretch: SeriesStretch) -> list[tuple[str, float]]:
    return [("p50", stretch.median)]


def _p99s(stretch: SeriesStretch) -> list[tuple[str, float]]:
    return [("p99", stretch.median), ("worst p99", stretch.greatest)]


def _worst(stretch: SeriesStretch) -> list[tuple[str, float]]:
    return [("max", stretch.greatest)]


def _rows(
    data: SoakData, stream: str, stretch: SeriesStretch, values: list[tuple[str, float]]
) -> list[dict[str, object]]:
    divisor = TimeAxis.over(data.length_s).divisor
    return [
        {
            "time": stretch.at_s / divisor,
            "latency": max(value, MIN_US),
            "line": line,
            "stream": stream,
            "trial": stretch.trial,
        }
        for line, value in values
    ]


# Received rate over a soak, one band a direction, with the load as a rule.
def soak_rate(data: SoakData) -> Figure:
    """The median of each stretch as a line, the least and the greatest second as a band."""
    series = data.of(RX)
    if not series:
        return Figure(_RATES, _RATES_TITLE, "No received rate is recorded yet.", None)
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
    return Figure(_RATES, _RATES_TITLE, caption, alt.LayerChart(layer=[rule, band, line]))


# A soak's windows as a strip, one mark each by its verdict.
def soak_windows(data: SoakData) -> Figure:
    """Each window from its begin to its end, coloured and marked by verdict."""
    if not data.windows:
        return Figure(_STRIP, _STRIP_TITLE, "No window has closed yet.", None)
    axis = TimeAxis.over(data.length_s)
    strip = alt.Chart(records(_strip_rows(data, axis)))
    time = axis.x("soak", "begin")
    tooltips = [alt.Tooltip(name) for name in ("window:Q", "verdict:N", "from:N", "reason:N")]
    colour = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=list(VERDICTS), range=list(VERDICT_COLOURS)),
    )
    bars = strip.mark_rect(opacity=0.45, stroke="white", strokeWidth=1).encode(
        x=time,
        x2=alt.X2("end:Q"),
        y=y_pixel(0),
        y2=y2_pixel(_STRIP_HEIGHT),
        color=colour,
        tooltip=tooltips,
    )
    marks = strip.mark_point(filled=True, size=46).encode(
        x=alt.X("middle:Q"),
        y=y_pixel(_STRIP_HEIGHT / 2),
        color=colour,
        shape=alt.Shape(
            "verdict:N", scale=alt.Scale(domain=list(VERDICTS), range=list(VERDICT_SHAPES))
        ),
        tooltip=tooltips,
    )
    caption = (
        f"Each window of {format_duration(data.result.windows.window_s)} judged by itself; "
        "none is one cut short, and a gap is time without traffic."
    )
    chart = alt.LayerChart(layer=[bars, marks])
    return Figure(_STRIP, _STRIP_TITLE, caption, chart, height=_STRIP_HEIGHT)


def _strip_rows(data: SoakData, axis: TimeAxis) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for number, window in enumerate(data.windows, start=1):
        begin_s = data.begins_s[window.trial] + window.begin_s
        end_s = data.begins_s[window.trial] + window.end_s
        rows.append(
            {
                "window": number,
                "begin": begin_s / axis.divisor,
                "middle": (begin_s + end_s) / 2 / axis.divisor,
                "end": end_s / axis.divisor,
                "from": f"{format_duration(begin_s) if begin_s else '0s'} on",
                "verdict": window.verdict,
                "reason": "; ".join(each.text for each in window.reasons) or "none",
            }
        )
    return rows
