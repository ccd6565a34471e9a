"""Probe latency by whole microseconds and frames, the form of Red Hat's latency reports."""

from __future__ import annotations

from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.trial_series import trial_words
from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.microsecond_bars import microsecond_bars

_NAME, _TITLE = "latency-buckets", "Probe latency by microsecond"


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
    series = {_label(stream): stream.latency_us for stream in streams}
    return Figure(_NAME, _TITLE, caption, microsecond_bars(series, "frames"))


def _label(stream: StreamRecord) -> str:
    return f"{stream.name} ({stream.pacing})"


CHART = Chart(latency_buckets, "latency")
