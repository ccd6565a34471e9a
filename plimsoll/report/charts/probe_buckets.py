"""How many probes took how many whole microseconds, over a whole probe run."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from plimsoll.record.probe_result import ProbeStatistics
from plimsoll.report.charts.figure import Figure, records
from plimsoll.report.charts.palette import series_scale

_NAME, _TITLE = "probe-buckets", "Probes by microsecond"
# Up to here each microsecond is wide enough on a linear axis to be seen.
_WIDEST_LINEAR_US = 150
# On a log axis, where latencies below 1 µs begin and where a bar stands on.
_LEAST_US, _LEAST_SAMPLES = 0.5, 0.5


def probe_buckets(statistics: Sequence[ProbeStatistics]) -> Figure:
    """Latency in buckets of 1 µs, samples on a log axis, a series for each direction."""
    bars = [
        (each.stream.name, us, samples)
        for each in statistics
        for us, samples in each.stream.latency_us
    ]
    if not bars:
        return Figure(_NAME, _TITLE, "No probe has come back yet.", None)
    widest_us = max(us for _, us, _ in bars)
    linear = widest_us <= _WIDEST_LINEAR_US
    least_us = min(us for _, us, _ in bars)
    rows: list[dict[str, object]] = [
        {
            "stream": stream,
            "microseconds": us,
            "begin": us if linear else max(us, _LEAST_US),
            "end": us + 1,
            "samples": samples,
            "base": _LEAST_SAMPLES,
        }
        for stream, us, samples in bars
    ]
    domain = [least_us if linear else max(least_us, _LEAST_US), widest_us + 1]
    caption = (
        "Both axes tell a long tail: a single sample is a bar of its own. What took a "
        "millisecond or longer is in the last bucket."
    )
    names = [each.stream.name for each in statistics]
    return Figure(_NAME, _TITLE, caption, _chart(rows, names, domain, linear))


def _chart(
    rows: list[dict[str, object]], names: list[str], domain: list[float], linear: bool
) -> alt.Chart:
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_rect(opacity=0.6)
        .encode(
            x=alt.X(
                "begin:Q",
                title="latency (µs)" if linear else "latency (µs, log)",
                scale=alt.Scale(type="linear" if linear else "log", domain=domain, nice=False),
            ),
            x2="end:Q",
            y=alt.Y(
                "samples:Q",
                title="samples (log)",
                scale=alt.Scale(type="log", domainMin=_LEAST_SAMPLES),
                axis=alt.Axis(format="~g"),
            ),
            y2="base:Q",
            color=alt.Color("stream:N", scale=series_scale(names)),
            tooltip=[
                alt.Tooltip("stream:N"),
                alt.Tooltip("microseconds:Q", title="from (µs)", format=",d"),
                alt.Tooltip("samples:Q", format=",d"),
            ],
        )
    )
    return chart
