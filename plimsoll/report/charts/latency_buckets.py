"""Probe latency by whole microseconds and frames, the form of Red Hat's latency reports."""

from __future__ import annotations

import altair as alt

from plimsoll.record.stream_record import StreamRecord
from plimsoll.report.charts.figure import Figure, records
from plimsoll.report.charts.palette import series_scale
from plimsoll.report.charts.trial_series import trial_words
from plimsoll.report.run_data import RunData

_NAME, _TITLE = "latency-buckets", "Probe latency by microsecond"
# Up to here each microsecond is wide enough on a linear axis to be seen.
_WIDEST_LINEAR_US = 150
# On a log axis, where frames below 1 µs begin and where a bar stands on.
_LEAST_US, _LEAST_FRAMES = 0.5, 0.5


def latency_buckets(data: RunData) -> Figure:
    """How many probes of the focus trial took how many whole microseconds."""
    streams = [stream for stream in (data.focus.streams if data.focus else ()) if stream.latency_us]
    if data.focus is None or not streams:
        return Figure(_NAME, _TITLE, "No trial has recorded a probe yet.", None)
    waits = [s.name for s in streams if s.pacing == "one-in-flight"]
    closed = (
        f" {', '.join(waits)}: one in flight, so a stall of the DUT costs one sample, however long."
        if waits
        else ""
    )
    caption = (
        f"Latencies in {trial_words(data.focus)} in buckets of 1 µs; what took a millisecond or "
        f"longer is in the last.{closed}"
    )
    return Figure(_NAME, _TITLE, caption, _bars(streams))


def _bars(streams: list[StreamRecord]) -> alt.Chart:
    widest_us = max(us for stream in streams for us, _ in stream.latency_us)
    linear = widest_us <= _WIDEST_LINEAR_US
    least_us = min(us for stream in streams for us, _ in stream.latency_us)
    domain = [least_us if linear else max(least_us, _LEAST_US), widest_us + 1]
    rows = [
        {
            "begin": us if linear else max(us, _LEAST_US),
            "end": us + 1,
            "microseconds": us,
            "frames": frames,
            "base": _LEAST_FRAMES,
            "stream": _label(stream),
        }
        for stream in streams
        for us, frames in stream.latency_us
    ]
    names = [_label(stream) for stream in streams]
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
                "frames:Q",
                title="frames (log)",
                scale=alt.Scale(type="log", domainMin=_LEAST_FRAMES),
                axis=alt.Axis(format="~g"),
            ),
            y2="base:Q",
            color=alt.Color("stream:N", scale=series_scale(names)),
            tooltip=[
                alt.Tooltip("stream:N"),
                alt.Tooltip("microseconds:Q", title="from (µs)", format=",d"),
                alt.Tooltip("frames:Q", format=",d"),
            ],
        )
    )
    return chart


def _label(stream: StreamRecord) -> str:
    return f"{stream.name} ({stream.pacing})"
