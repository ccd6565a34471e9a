"""Interrupts of the CPUs under test over the trial, a line each."""

from __future__ import annotations

import math
from collections.abc import Iterable

import altair as alt

from plimsoll.record.query import ask
from plimsoll.record.query.breakout import Breakout
from plimsoll.record.query.metric_query import MetricQuery
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.trial_series import trial_words
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.palette import series_scale
from plimsoll.report.figures.time_axis import TimeAxis
from plimsoll.text.units import format_duration
from plimsoll.trial.outcome.host_metrics import HostMetrics
from plimsoll.trial.outcome.host_question import HostQuestion

_NAME, _TITLE = "interrupt-rate", "Interrupts on the CPUs under test"
# More than a screen has pixels for.
_MOST_POINTS = 6000


def interrupt_rate(data: RunData) -> Figure:
    """Interrupts a second by CPU in the focus trial, while frames were sent."""
    series = dict(_series(data.hosts)) if data.hosts else {}
    if data.focus is None or data.hosts is None or not series:
        return Figure(_NAME, _TITLE, "Interrupts were not observed.", None)
    window_s = data.hosts.length_s / max(map(len, series.values()))
    caption = (
        f"In {trial_words(data.focus)}. Each point adds up the highest rates that each kind of "
        f"interrupt had within {format_duration(window_s)}."
    )
    return Figure(_NAME, _TITLE, caption, _lines(series, data.hosts.length_s))


def _series(metrics: HostMetrics) -> Iterable[tuple[str, tuple[float | None, ...]]]:
    """By CPU, a value for each of equally long windows; None where none was observed."""
    asked = HostQuestion("procstat", "interrupts-sec", cpus="under-test")
    cpus: dict[str, list[str]] = {}
    for figure in metrics.figures(asked):
        cpus.setdefault(figure.hostname, []).append(figure.names["cpu"])
    for host in metrics.hosts:
        if host.hostname in cpus:
            windows = _windows(metrics, host.interval_s, sum(map(len, cpus.values())))
            query = MetricQuery(
                asked.source,
                asked.type,
                period=metrics.period,
                begin=round(metrics.begin_ms),
                end=round(metrics.end_ms),
                resolution=windows,
                breakouts=(
                    Breakout("hostname", "values", (host.hostname,)),
                    Breakout("cpu", "values", tuple(cpus[host.hostname])),
                ),
                over_time="max",
            )
            for row in ask(metrics.run, query).rows:
                yield f"{row.names[0]} CPU {row.names[1]}", row.values


def _windows(metrics: HostMetrics, interval_s: float, cpus: int) -> int:
    """As many as there were readings, or as a chart can show."""
    return max(1, min(math.floor(metrics.length_s / interval_s), _MOST_POINTS // cpus))


def _lines(series: dict[str, tuple[float | None, ...]], length_s: float) -> alt.Chart:
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
            x=alt.X(
                "time:Q",
                title=f"time in the trial ({axis.unit})",
                scale=alt.Scale(domain=[0, length_s / axis.divisor]),
            ),
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
