"""Pod readiness, latencies and CPUs over the level of churn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import altair as alt

from plimsoll.benchmark.churn.criteria.criteria import ALL_PODS
from plimsoll.record.results.churn_result import ChurnCell, ControlPlaneFigures, WorkloadRecord
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.palette import series_scale

_OF_LEVEL = "churn (% of the namespaces)"


def readiness_chart(cells: Sequence[ChurnCell], workloads: Sequence[WorkloadRecord]) -> Figure:
    """p99 by kind of pod; that at 0 % is of the workload's creation."""
    rows = [
        {"level": 0.0, "series": each.kind, "value": each.p99_ms}
        for workload in workloads
        for each in workload.control_plane.readiness
        if each.kind != ALL_PODS
    ]
    rows += [
        {"level": cell.percent, "series": each.kind, "value": each.p99_ms}
        for cell in cells
        for each in cell.control_plane.readiness
        if each.kind != ALL_PODS
    ]
    return _figure(
        "pod-readiness",
        "Pod readiness, p99",
        rows,
        "ms",
        "By kind of pod, by our own watch, in every cell; at 0 % that of the workload's creation.",
    )


def latency_chart(
    name: str,
    title: str,
    cells: Sequence[ChurnCell],
    values: Callable[[ControlPlaneFigures], dict[str, float]],
) -> Figure:
    """A p99 in ms over the level, of every cell."""
    rows = [
        {"level": cell.percent, "series": series, "value": value}
        for cell in cells
        for series, value in values(cell.control_plane).items()
    ]
    return _figure(name, title, rows, "ms", "Of each cell, over its churn.")


def cores_chart(cells: Sequence[ChurnCell]) -> Figure:
    """CPUs by component over the level."""
    rows = [
        {"level": cell.percent, "series": each.component, "value": each.cores}
        for cell in cells
        for each in cell.control_plane.usage
    ]
    return _figure(
        "component-cpus", "CPUs of each component", rows, "CPUs", "Mean over each cell's churn."
    )


def _figure(
    name: str, title: str, rows: list[dict[str, object]], unit: str, caption: str
) -> Figure:
    if not rows:
        return Figure(name, title, "Nothing of it was measured.", None)
    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    base = alt.Chart(records(rows)).encode(
        x=alt.X("level:Q", title=_OF_LEVEL, scale=alt.Scale(domain=[-4, 104], nice=False)),
        y=alt.Y("value:Q", title=unit, scale=alt.Scale(zero=True)),
        color=alt.Color("series:N", scale=series_scale(series)),
    )
    points = base.mark_point(filled=True, size=44).encode(
        shape=alt.Shape("series:N", legend=None),
        tooltip=[
            alt.Tooltip("series:N"),
            alt.Tooltip("level:Q", title="churn (%)"),
            alt.Tooltip("value:Q", title=unit, format=".4~g"),
        ],
    )
    means = base.mark_line(strokeWidth=1.4).encode(y=alt.Y("mean(value):Q", title=unit))
    text = f"{caption} The line joins the means of all networks at each level."
    return Figure(name, title, text, alt.LayerChart(layer=[means, points]))
