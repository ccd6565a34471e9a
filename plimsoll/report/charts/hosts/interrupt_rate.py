"""Interrupts of the CPUs under test over the trial, a line each."""

from __future__ import annotations

import altair as alt

from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.one_host import CpuWindows, cpu_windows
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.trial_series import trial_words
from plimsoll.report.figures.figure import Figure, records, series_scale
from plimsoll.report.figures.time_axis import TimeAxis
from plimsoll.text.units import format_duration

_NAME, _TITLE = "interrupt-rate", "Interrupts on the CPUs under test"
# More than a screen has pixels for.
_MAX_POINTS = 2400


def interrupt_rate(data: RunData) -> Figure:
    """Interrupts a second by CPU in the focus trial, while frames were sent."""
    series = (
        dict(cpu_windows(data.hosts, "procstat", "interrupts-sec", "under-test", _MAX_POINTS))
        if data.hosts
        else {}
    )
    if data.focus is None or data.hosts is None or not series:
        return Figure(_NAME, _TITLE, "Interrupts were not observed.", None)
    window_s = data.hosts.length_s / max(map(len, series.values()))
    caption = (
        f"In {trial_words(data.focus)}. Each point adds up the highest rates that each kind of "
        f"interrupt had within {format_duration(window_s)}."
    )
    return Figure(_NAME, _TITLE, caption, _lines(series, data.hosts.length_s))


def _lines(series: dict[str, CpuWindows], length_s: float) -> alt.Chart:
    axis = TimeAxis.over(length_s)
    rows = [
        {"time": length_s * (n + 0.5) / len(values) / axis.divisor, "rate": value, "cpu": cpu}
        for cpu, values in series.items()
        for n, value in enumerate(values)
    ]
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.6, point=len(rows) <= len(series))
        .encode(
            x=axis.x("trial"),
            y=alt.Y("rate:Q", title="interrupts a second", scale=alt.Scale(domainMin=0)),
            color=alt.Color("cpu:N", scale=series_scale(list(series))),
            strokeDash=alt.StrokeDash("cpu:N", legend=None),
            tooltip=[
                alt.Tooltip("cpu:N"),
                alt.Tooltip("time:Q", title=f"time ({axis.unit})", format=".4~f"),
                alt.Tooltip("rate:Q", title="interrupts a second", format=",.4~f"),
            ],
        )
    )
    return chart


CHART = Chart(interrupt_rate, "hosts", order=2)
