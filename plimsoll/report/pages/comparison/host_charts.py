"""The CPUs under test by side: what became of their time, and how often they were interrupted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

import altair as alt

from plimsoll.report.charts.hosts.cpu_time import state_bars
from plimsoll.report.data.side_hosts import OwnedCpus
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.palette import series_scale

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
