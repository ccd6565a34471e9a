"""Latency quantiles of the probes by load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from plimsoll.methods.latency_at_load.result import LoadPoint, StreamLatency
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.log_axis import log_axis
from plimsoll.report.figures.palette import QUANTILE_COLOURS
from plimsoll.report.figures.quantile_ends import CHARTED_QUANTILES, quantile_ends

_NAME, _TITLE = "latency-by-load", "Latency by load"
_CAPTION = "Of valid trials; a direction has dashes of its own."
_OF_ENDS = (
    "Lines are the most that the DUT took; a bar reaches down to the least, where stalls of the "
    "tester leave it open."
)


def latency_by_load(points: Sequence[LoadPoint]) -> Figure:
    """Percent of the rate against latency: a colour for each quantile, a dash for each probe."""
    rows = [*_rows(points)]
    if not rows:
        return Figure(_NAME, _TITLE, "No probe has come back yet.", None)
    names = list(dict.fromkeys(str(row["stream"]) for row in rows))
    latencies = [float(str(row["latency"])) for row in rows]
    base = alt.Chart(records(rows)).encode(
        x=alt.X(
            "percent:Q", title="load (% of the rate)", scale=alt.Scale(domainMin=0, nice=False)
        ),
        y=log_axis("latency", "latency (µs, log)", [*latencies, *_lows(rows)]),
        color=alt.Color(
            "quantile:N", scale=alt.Scale(domain=[*CHARTED_QUANTILES], range=[*QUANTILE_COLOURS])
        ),
        tooltip=[
            alt.Tooltip("stream:N"),
            alt.Tooltip("quantile:N"),
            alt.Tooltip("percent:Q", title="% of the rate", format=".4~f"),
            alt.Tooltip("low:Q", title="at least (µs)", format=".4~f"),
            alt.Tooltip("latency:Q", title="at most (µs)", format=".4~f"),
        ],
    )
    line = base.mark_line(point=alt.OverlayMarkDef(size=60)).encode(
        strokeDash=alt.StrokeDash("stream:N", scale=alt.Scale(domain=names))
    )
    if latencies == _lows(rows):
        return Figure(_NAME, _TITLE, _CAPTION, line)
    # Down to the low end: no bar where both are the same.
    bars = base.mark_rule(strokeWidth=3, opacity=0.4).encode(y2=alt.Y2("low:Q"))
    return Figure(_NAME, _TITLE, f"{_CAPTION} {_OF_ENDS}", alt.LayerChart(layer=[bars, line]))


def _lows(rows: Sequence[dict[str, object]]) -> list[float]:
    return [float(str(row["low"])) for row in rows]


def _rows(points: Sequence[LoadPoint]) -> Iterator[dict[str, object]]:
    for point in points:
        for stream in point.streams if point.verdict != "invalid" else ():
            if stream.role == "latency":
                yield from _quantiles(point, stream)


def _quantiles(point: LoadPoint, stream: StreamLatency) -> Iterator[dict[str, object]]:
    for row in quantile_ends(stream.latency_ends):
        yield row | {"stream": stream.name, "percent": point.percent}
