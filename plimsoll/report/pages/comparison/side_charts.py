"""The sides over each other: their latency distributions, and what their CPUs did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any, Literal

import altair as alt
from hdrh.histogram import HdrHistogram

from plimsoll.report.charts.hosts.cpu_time import state_bars
from plimsoll.report.charts.latency.latency_ccdf import ccdf_rows
from plimsoll.report.charts.latency.latency_distribution import percentile_axis, percentile_rows
from plimsoll.report.data.sides import OwnedCpus, SideLatency
from plimsoll.report.figures.figure import Figure, records, series_scale
from plimsoll.report.figures.value_axis import log_axis, log_x_axis

_ROW, _FRAME = 30, 66
_LABEL_LIMIT = 180
BySide = Mapping[str, Sequence[OwnedCpus]]


def busy_chart(sides: BySide) -> Figure:
    """A stacked bar for each side and owner: the shares of its CPUs' time, in the mean of runs."""
    name, title = "side-cpu-time", "Time of the CPUs under test"
    rows = [
        {
            "cpus": _row(side, owner),
            "state": state,
            "share": fmean(each.shares[state] for each in runs),
            "order": place,
        }
        for side, owner, runs in _grouped(sides)
        for place, state in enumerate(runs[0].shares)
    ]
    if not rows:
        return Figure(name, title, "The time of the CPUs was not observed.", None)
    labels = list(dict.fromkeys(str(row["cpus"]) for row in rows))
    chart = state_bars(
        rows, labels, field="cpus", title="share of their time", label_limit=_LABEL_LIMIT
    )
    caption = (
        "In the mean of a side's runs, while the frames of the trial behind each answer were "
        "sent. A polling loop that is left alone spends all of it in user space."
    )
    return Figure(name, title, caption, chart, _FRAME + _ROW * len(labels))


def interrupt_chart(sides: BySide) -> Figure:
    """A point for each run in the row of its side and owner, and a tick at their median."""
    name, title = "side-interrupts", "Interrupts of the CPUs under test"
    points: list[dict[str, object]] = []
    medians: list[dict[str, object]] = []
    for side, owner, runs in _grouped(sides):
        rates = [each.interrupts_per_s for each in runs if each.interrupts_per_s is not None]
        row = {"cpus": _row(side, owner), "side": side}
        points += [{**row, "rate": rate} for rate in rates]
        medians += [{**row, "rate": median(rates)}] if rates else []
    if not points:
        return Figure(name, title, "Interrupts were not observed.", None)
    labels = list(dict.fromkeys(str(row["cpus"]) for row in points))
    encoding: dict[str, Any] = {
        "x": alt.X("rate:Q", title="interrupts a second", axis=alt.Axis(grid=True, tickCount=6)),
        "y": alt.Y("cpus:N", title=None, sort=labels, axis=alt.Axis(labelLimit=_LABEL_LIMIT)),
        "color": alt.Color("side:N", scale=series_scale(list(sides)), legend=None),
        "tooltip": [
            alt.Tooltip("cpus:N"),
            alt.Tooltip("rate:Q", title="interrupts a second", format=",.4~g"),
        ],
    }
    ticks = alt.Chart(records(medians)).mark_tick(thickness=3, size=20).encode(**encoding)
    runs = alt.Chart(records(points)).mark_point(filled=True, size=52, opacity=0.65)
    caption = (
        "Of all CPUs of an owner together, each point a run, the tick their median; likewise "
        "while frames were sent."
    )
    chart = alt.LayerChart(layer=[ticks, runs.encode(**encoding)])
    return Figure(name, title, caption, chart, _FRAME + _ROW * len(labels))


def _grouped(sides: BySide) -> list[tuple[str, str, list[OwnedCpus]]]:
    """By owner, so that its sides stand below each other."""
    owners = dict.fromkeys(each.owner for runs in sides.values() for each in runs)
    groups = (
        (side, owner, [each for each in runs if each.owner == owner])
        for owner in sorted(owners)
        for side, runs in sides.items()
    )
    return [group for group in groups if group[2]]


def _row(side: str, owner: str) -> str:
    return f"{owner} · {side}"


_NOTHING = "No run of these has recorded a latency histogram."
_RunRows = Callable[[HdrHistogram, Mapping[str, object], int], list[dict[str, object]]]
# Of one thin line; a page of hundreds of runs stays below a few MB.
_STEPS_OF_A_RUN = 120
_MAX_RUNS = 40
_TOGETHER = "all runs"


def side_ccdf(sides: Sequence[SideLatency]) -> Figure:
    """The share of samples above each latency: a thick line for a side, a thin one for a run."""
    name, title = "side-latency-ccdf", "Frames that took longer (CCDF)"
    if not sides:
        return Figure(name, title, _NOTHING, None)
    rows = _all_rows(sides, ccdf_rows)
    x = log_x_axis("latency", "latency (µs, log)", _latencies(rows))
    y = alt.Y(
        "share:Q",
        title="share that took longer (log)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(format="~e", tickCount=6),
    )
    share = alt.Tooltip("share:Q", title="share", format=".3~e")
    caption = (
        "The share of samples that took longer than each latency. Thick: all runs of a side; "
        "thin: each of its runs. Sides differ where their bundles of thin lines part."
    )
    return Figure(name, title, caption, _chart(rows, sides, x, y, share, interpolate="step-after"))


def side_percentiles(sides: Sequence[SideLatency]) -> Figure:
    """Latency at each percentile, likewise."""
    name, title = "side-latency-percentiles", "Latency by percentile"
    if not sides:
        return Figure(name, title, _NOTHING, None)
    rows = _all_rows(sides, percentile_rows)
    y = log_axis("latency", "latency (µs, log)", _latencies(rows))
    percentile = alt.Tooltip("percentile:Q", title="percentile (%)", format=".8~f")
    caption = (
        "All samples of the trials on which the runs' answers rest, but for those taken across a "
        "stall of the tester. Thick: all runs of a side; thin: each of its runs. Values are "
        "known to 0.78 %."
    )
    return Figure(
        name,
        title,
        caption,
        _chart(rows, sides, percentile_axis(), y, percentile, interpolate="step-before"),
    )


def _all_rows(sides: Sequence[SideLatency], rows_of: _RunRows) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    several = 1 < sum(len(side.runs) for side in sides) <= _MAX_RUNS
    for side in sides:
        rows += rows_of(side.together, {"side": side.label, "run": _TOGETHER}, 400)
        for run in side.runs if several and len(side.runs) > 1 else ():
            rows += rows_of(run.histogram, {"side": side.label, "run": run.run_id}, _STEPS_OF_A_RUN)
    return rows


def _latencies(rows: Sequence[Mapping[str, object]]) -> list[float]:
    return [float(str(row["latency"])) for row in rows]


def _chart(
    rows: list[dict[str, object]],
    sides: Sequence[SideLatency],
    x: alt.X,
    y: alt.Y,
    value: alt.Tooltip,
    *,
    interpolate: Literal["step-after", "step-before"],
) -> alt.LayerChart:
    labels = [side.label for side in sides]
    tooltip = [
        alt.Tooltip("side:N"),
        alt.Tooltip("run:N"),
        alt.Tooltip("latency:Q", title="latency (µs)", format=",.4~f"),
        value,
    ]
    encoded: dict[str, Any] = {
        "x": x,
        "y": y,
        "color": alt.Color("side:N", scale=series_scale(labels)),
    }
    of_runs = [row for row in rows if row["run"] != _TOGETHER]
    thin = (
        alt.Chart(records(of_runs))
        .mark_line(strokeWidth=0.8, opacity=0.4, interpolate=interpolate)
        .encode(**encoded, detail=alt.Detail("run:N"), tooltip=tooltip)
    )
    thick = (
        alt.Chart(records([row for row in rows if row["run"] == _TOGETHER]))
        .mark_line(strokeWidth=2.4, interpolate=interpolate)
        .encode(
            **encoded,
            strokeDash=alt.StrokeDash("side:N", sort=labels, legend=None),
            tooltip=tooltip,
        )
    )
    return alt.LayerChart(layer=[thin, thick] if of_runs else [thick])
