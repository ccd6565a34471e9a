"""Latency over a soak, of the probe streams."""

from __future__ import annotations

import altair as alt

from plimsoll.methods.soak.data import SoakData
from plimsoll.methods.soak.series import MAX, P50, P99, SeriesStretch
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.log_axis import LEAST_US, log_axis
from plimsoll.report.figures.palette import QUANTILE_COLOURS
from plimsoll.report.figures.time_axis import TimeAxis

_NAME, _TITLE = "soak-latency", "Latency"
_LINES = ("p50", "p99", "worst p99", "max")


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
            "latency": max(value, LEAST_US),
            "line": line,
            "stream": stream,
            "trial": stretch.trial,
        }
        for line, value in values
    ]
