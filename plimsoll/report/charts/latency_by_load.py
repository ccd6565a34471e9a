"""Latency quantiles of the probes by load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from plimsoll.record.results.latency_at_load_result import LoadPoint, StreamLatency
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.log_axis import LEAST_US, log_axis
from plimsoll.report.figures.palette import QUANTILE_COLOURS

_NAME, _TITLE = "latency-by-load", "Latency by load"
_QUANTILES = ("p50", "p99", "p99.9", "max")


def latency_by_load(points: Sequence[LoadPoint]) -> Figure:
    """Percent of the rate against latency: a colour for each quantile, a dash for each probe."""
    rows = [*_rows(points)]
    if not rows:
        return Figure(_NAME, _TITLE, "No probe has come back yet.", None)
    names = list(dict.fromkeys(str(row["stream"]) for row in rows))
    latencies = [float(str(row["latency"])) for row in rows]
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_line(point=alt.OverlayMarkDef(size=60))
        .encode(
            x=alt.X(
                "percent:Q", title="load (% of the rate)", scale=alt.Scale(domainMin=0, nice=False)
            ),
            y=log_axis("latency", "latency (µs, log)", latencies),
            color=alt.Color(
                "quantile:N", scale=alt.Scale(domain=[*_QUANTILES], range=[*QUANTILE_COLOURS])
            ),
            strokeDash=alt.StrokeDash("stream:N", scale=alt.Scale(domain=names)),
            tooltip=[
                alt.Tooltip("stream:N"),
                alt.Tooltip("quantile:N"),
                alt.Tooltip("percent:Q", title="% of the rate", format=".4~f"),
                alt.Tooltip("latency:Q", title="µs", format=".4~f"),
            ],
        )
    )
    return Figure(_NAME, _TITLE, "Of valid trials; a direction has dashes of its own.", chart)


def _rows(points: Sequence[LoadPoint]) -> Iterator[dict[str, object]]:
    for point in points:
        for stream in point.streams if point.verdict != "invalid" else ():
            if stream.role == "latency":
                yield from _quantiles(point, stream)


def _quantiles(point: LoadPoint, stream: StreamLatency) -> Iterator[dict[str, object]]:
    latency = stream.latency
    found = (latency.p50_ns, latency.p99_ns, latency.p99_9_ns, latency.max_ns)
    for quantile, ns in zip(_QUANTILES, found, strict=True):
        if ns is not None:
            yield {
                "stream": stream.name,
                "percent": point.percent,
                "quantile": quantile,
                "latency": max(ns / 1e3, LEAST_US),
            }
