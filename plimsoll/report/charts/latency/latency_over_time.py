"""Latency quantiles over time, of the probe streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.trial_series import series_of, trial_words
from plimsoll.report.figures.figure import QUANTILE_COLOURS, Figure, records
from plimsoll.report.figures.time_axis import Point, Thinned, TimeAxis, thinned
from plimsoll.report.figures.value_axis import MIN_US, log_axis

_NAME, _TITLE = "latency-over-time", "Latency over time"
_QUANTILES = ("p50", "p99", "p99.9", "max")
SEPARATOR = " · "


def latency_over_time(data: RunData) -> Figure:
    """p50, p99, p99.9 and max of each interval of the focus trial, log scale, µs."""
    streams = _streams(data)
    series = {
        f"{quantile}{SEPARATOR}{stream}": points
        for quantile in _QUANTILES
        for stream, points in series_of(data, f"{quantile}-round-trip-usec", ("stream",)).items()
        if stream in streams
    }
    if data.focus is None or not series:
        return Figure(_NAME, _TITLE, "No trial has recorded a latency yet.", None)
    chart, remark = quantiles_over_time(series, data.focus.sending_s)
    caption = (
        f"Quantiles of each interval in {trial_words(data.focus)}, of {', '.join(streams)}. "
        f"Samples taken across a stall of the tester are counted apart.{remark}"
    )
    return Figure(_NAME, _TITLE, caption, chart)


def quantiles_over_time(
    series: Mapping[str, Sequence[Point]], length_s: float
) -> tuple[alt.Chart, str]:
    """The chart of series named "p99 · stream", in µs, and how it was reduced."""
    kept = thinned(series, max)
    return _lines(kept, TimeAxis.over(length_s)), kept.remark()


def _streams(data: RunData) -> list[str]:
    """The probe streams; without one, all streams: every frame carries its time."""
    if data.focus is None:
        return []
    probes = [stream.name for stream in data.focus.streams if stream.role == "latency"]
    return probes or [stream.name for stream in data.focus.streams]


def _rows(series: str, points: list[Point], axis: TimeAxis) -> list[dict[str, object]]:
    quantile, _, stream = series.partition(SEPARATOR)
    return [
        {
            "time": point.at_s / axis.divisor,
            "latency": max(point.value, MIN_US),
            "quantile": quantile,
            "stream": stream,
        }
        for point in points
    ]


def _lines(kept: Thinned, axis: TimeAxis) -> alt.Chart:
    rows = [row for name, points in kept.series.items() for row in _rows(name, list(points), axis)]
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.6)
        .encode(
            x=axis.x("trial"),
            y=log_axis("latency", "latency (µs, log)", _values(kept)),
            color=alt.Color(
                "quantile:N",
                sort=list(_QUANTILES),
                scale=alt.Scale(domain=list(_QUANTILES), range=list(QUANTILE_COLOURS)),
            ),
            strokeDash=alt.StrokeDash("stream:N", legend=None),
            tooltip=[
                alt.Tooltip("stream:N"),
                alt.Tooltip("quantile:N"),
                alt.Tooltip("time:Q", title=f"time ({axis.unit})", format=".4~f"),
                alt.Tooltip("latency:Q", title="latency (µs)", format=",.4~f"),
            ],
        )
    )
    return chart


def _values(kept: Thinned) -> list[float]:
    return [max(point.value, MIN_US) for points in kept.series.values() for point in points]


CHART = Chart(
    latency_over_time,
    "first-screen",
    order=2,
    types=tuple(f"{each}-round-trip-usec" for each in _QUANTILES),
)
