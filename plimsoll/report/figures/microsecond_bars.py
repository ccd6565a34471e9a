"""Bars of 1 µs, of a height on a log axis: how many took how long, to the single one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from plimsoll.report.figures.figure import records, series_scale

# Up to here each microsecond is wide enough on a linear axis to be seen.
_WIDEST_LINEAR_US = 150
# On a log axis, where latencies below 1 µs begin and where a bar stands on.
_MIN_US, _MIN_COUNT = 0.5, 0.5


def microsecond_bars(
    series: Mapping[str, Sequence[tuple[int, int]]], counted: str
) -> alt.Chart | None:
    """A chart of (whole microseconds, count) for each series by its name; None without any.

    `counted` names what is counted, in the plural.
    """
    bars = [(name, us, count) for name, buckets in series.items() for us, count in buckets]
    if not bars:
        return None
    widest_us = max(us for _, us, _ in bars)
    linear = widest_us <= _WIDEST_LINEAR_US
    floor_us = float("-inf") if linear else _MIN_US
    rows = [
        {
            "stream": name,
            "microseconds": us,
            "begin": max(us, floor_us),
            "end": us + 1,
            counted: count,
            "base": _MIN_COUNT,
        }
        for name, us, count in bars
    ]
    domain = [max(min(us for _, us, _ in bars), floor_us), widest_us + 1]
    x = alt.X(
        "begin:Q",
        title="latency (µs)" if linear else "latency (µs, log)",
        scale=alt.Scale(type="linear" if linear else "log", domain=domain, nice=False),
    )
    y = alt.Y(
        f"{counted}:Q",
        title=f"{counted} (log)",
        scale=alt.Scale(type="log", domainMin=_MIN_COUNT),
        axis=alt.Axis(format="~g"),
    )
    tooltip = [
        alt.Tooltip("stream:N"),
        alt.Tooltip("microseconds:Q", title="from (µs)", format=",d"),
        alt.Tooltip(f"{counted}:Q", format=",d"),
    ]
    color = alt.Color("stream:N", scale=series_scale(list(series)))
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_rect(opacity=0.6)
        .encode(x=x, x2=alt.X2("end:Q"), y=y, y2=alt.Y2("base:Q"), color=color, tooltip=tooltip)
    )
    return chart
