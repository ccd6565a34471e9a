"""How busy each CPU of each host was over the trial, as a heat map."""

from __future__ import annotations

import re

import altair as alt

from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.one_host import CpuWindows, cpu_windows
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.trial_series import trial_words
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.time_axis import TimeAxis
from plimsoll.text.units import format_duration

_NAME, _TITLE = "cpu-busy", "Busy CPUs"
# A cell narrower than a few pixels is none.
_MAX_CELLS = 2400
_ROW, _FRAME = 18, 60


def cpu_heat(data: RunData) -> Figure:
    """CPU against time in the focus trial; colour is the share of the window it was busy."""
    cpus = (
        dict(cpu_windows(data.hosts, "mpstat", "Busy-CPU", "all", _MAX_CELLS)) if data.hosts else {}
    )
    if data.focus is None or data.hosts is None or not cpus:
        return Figure(_NAME, _TITLE, "The time of the CPUs was not observed.", None)
    cpus = dict(sorted(cpus.items(), key=lambda each: _by_number(each[0])))
    window_s = data.hosts.length_s / max(map(len, cpus.values()))
    caption = (
        f"All CPUs in {trial_words(data.focus)}; each cell is {format_duration(window_s)}, by the "
        "greatest reading of each state in it. CPUs under test poll, and are busy all the time; "
        "any other that is busy may take memory bandwidth, cache or a sibling's execution units."
    )
    chart = _cells(cpus, TimeAxis.over(data.hosts.length_s))
    return Figure(_NAME, _TITLE, caption, chart, _FRAME + _ROW * len(cpus))


def _by_number(name: str) -> list[tuple[str, int]]:
    """CPU 10 after CPU 9."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", name)]


def _cells(cpus: dict[str, CpuWindows], axis: TimeAxis) -> alt.Chart:
    rows = [
        {
            "time": axis.length_s * n / len(values) / axis.divisor,
            "end": axis.length_s * (n + 1) / len(values) / axis.divisor,
            "busy": value,
            "cpu": cpu,
        }
        for cpu, values in cpus.items()
        for n, value in enumerate(values)
        if value is not None
    ]
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_rect()
        .encode(
            x=axis.x("trial"),
            x2=alt.X2("end:Q"),
            y=alt.Y("cpu:N", title=None, sort=list(cpus), axis=alt.Axis(labelLimit=140)),
            color=alt.Color(
                "busy:Q",
                title="busy",
                scale=alt.Scale(scheme="viridis", domain=[0, 1], clamp=True),
                legend=alt.Legend(format="%", title="busy", gradientLength=140, tickCount=3),
            ),
            tooltip=[
                alt.Tooltip("cpu:N"),
                alt.Tooltip("time:Q", title=f"from ({axis.unit})", format=".4~f"),
                alt.Tooltip("busy:Q", title="busy", format=".3~%"),
            ],
        )
    )
    return chart


CHART = Chart(cpu_heat, "hosts", order=1)
