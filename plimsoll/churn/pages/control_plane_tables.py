"""What pods, API server, etcd and CPUs took, by network and level."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import altair as alt

from plimsoll.churn.criteria.criteria import ALL_PODS
from plimsoll.churn.pages.stream_tables import LEVEL, NETWORK
from plimsoll.churn.results.churn_result import (
    ChurnCell,
    ComponentUsage,
    ControlPlaneFigures,
    LatencyFigures,
    PodReadiness,
    WorkloadRecord,
)
from plimsoll.report.figures.figure import Figure, records, series_scale
from plimsoll.report.figures.table import Cells, ReportColumn, ReportTable, count, number, text
from plimsoll.report.pages.standard.sections import PageSection

_CREATION = "creation"
_MIB = 1 << 20
# Beyond these the long table is longer than anybody reads.
_MAX_REQUESTS = 12
_OF_LEVEL = "churn (% of the namespaces)"


def readiness_section(
    cells: Sequence[ChurnCell], workloads: Sequence[WorkloadRecord]
) -> PageSection:
    """Of pods that were made in each cell, and of those made before the first."""
    columns = (
        NETWORK,
        LEVEL,
        text("pods_of", "Pods"),
        count("pods", "Number"),
        _ms("p50_ms", "p50"),
        _ms("p95_ms", "p95"),
        _ms("p99_ms", "p99"),
        _ms("max_ms", "Longest"),
        _whole_seconds("condition_p50_s", "p50 (s)"),
        _whole_seconds("condition_p99_s", "p99 (s)"),
    )
    rows = [
        _readiness_row(_CREATION, 0.0, each)
        for workload in workloads
        for each in workload.control_plane.readiness
    ]
    rows += [
        _readiness_row(cell.network, cell.percent, each)
        for cell in cells
        for each in cell.control_plane.readiness
    ]
    return PageSection(
        "Pod readiness",
        (
            "In ms by our own watch: from seeing the pod to seeing it ready. "
            "In s as kube-burner has it, from creationTimestamp to the condition Ready, which are "
            "whole seconds.",
            *_missed(cells, workloads),
        ),
        (ReportTable("pod-readiness", columns, tuple(rows), "Time until pods were ready"),),
        (readiness_chart(cells, workloads),),
    )


def apiserver_section(cells: Sequence[ChurnCell]) -> PageSection:
    """Read-only and mutating latencies, and each verb and resource."""
    columns = (
        NETWORK,
        LEVEL,
        *_request_columns("read_only", "Read-only p50"),
        *_request_columns("mutating", "Mutating p50"),
    )
    rows: list[Cells] = []
    for cell in cells:
        of_kind = {each.name: each for each in cell.control_plane.requests_by_kind}
        rows.append(
            (
                cell.network,
                cell.percent,
                *_request_cells(of_kind.get("read-only")),
                *_request_cells(of_kind.get("mutating")),
            )
        )
    long_columns = (
        NETWORK,
        LEVEL,
        text("verb", "Verb"),
        text("resource", "Resource"),
        count("requests", "Requests"),
        _ms("p50_ms", "p50"),
        _ms("p95_ms", "p95"),
        _ms("p99_ms", "p99"),
    )
    return PageSection(
        "API server",
        (
            "LIST and GET are read-only; POST, PUT, PATCH and DELETE mutate; watches and other "
            "streams are left out. Quantiles as PromQL's histogram_quantile has them, over the "
            "churn of each cell.",
        ),
        (
            ReportTable("requests", columns, tuple(rows), "Latency of requests"),
            ReportTable(
                "requests-by-resource",
                long_columns,
                tuple(_by_request(cells)),
                "By verb and resource, the most frequent",
                long=True,
            ),
        ),
        (latency_chart("apiserver-latency", "API server p99", cells, _apiserver_p99),),
    )


def etcd_section(cells: Sequence[ChurnCell]) -> PageSection:
    """WAL, backend and, of several members, round trips."""
    columns = (
        NETWORK,
        LEVEL,
        _ms("wal_fsync_p50_ms", "WAL fsync p50"),
        _ms("wal_fsync_p99_ms", "p99"),
        _ms("backend_commit_p50_ms", "Backend commit p50"),
        _ms("backend_commit_p99_ms", "p99"),
        _ms("peer_round_trip_p99_ms", "Peer round trip p99"),
    )
    rows: list[Cells] = []
    for cell in cells:
        found = {each.name: each for each in cell.control_plane.etcd}
        rows.append(
            (
                cell.network,
                cell.percent,
                *_two(found.get("wal-fsync")),
                *_two(found.get("backend-commit")),
                _two(found.get("peer-round-trip"))[1],
            )
        )
    return PageSection(
        "etcd",
        ("A store of one member has no peers, and so no round trips.",),
        (ReportTable("etcd", columns, tuple(rows), "Latencies"),),
        (latency_chart("etcd-latency", "etcd p99", cells, _etcd_p99),),
    )


def usage_section(cells: Sequence[ChurnCell]) -> PageSection:
    """CPU and memory by component, with the change against the same network without churn."""
    columns = (
        NETWORK,
        LEVEL,
        text("component", "Component"),
        number("cpus", "CPUs", lambda cpus: f"{cpus:.3f}"),
        _against("cpus_against_0_percent"),
        number("memory_bytes", "Memory (MiB)", lambda size: f"{size / _MIB:,.0f}"),
        _against("memory_against_0_percent"),
    )
    rows = tuple(_usage_rows(cells))
    return PageSection(
        "CPU and memory",
        (),
        (ReportTable("usage", columns, rows, "Mean over the churn of each cell"),),
        (cores_chart(cells),),
    )


def _missed(cells: Sequence[ChurnCell], workloads: Sequence[WorkloadRecord]) -> tuple[str, ...]:
    """What is said of pods whose times our watch does not know."""
    measured = [each.control_plane for each in workloads]
    measured += [each.control_plane for each in cells]
    missed = sum(
        figures.by_conditions
        for each in measured
        for figures in each.readiness
        if figures.kind == ALL_PODS
    )
    if not missed:
        return ()
    return (
        f"The watch was broken when {missed:,} of these pods came or became ready: their ms are "
        "of their conditions, and so whole seconds, too.",
    )


def _readiness_row(network: str, percent: float, each: PodReadiness) -> Cells:
    return (
        network,
        percent,
        each.kind,
        each.pods,
        each.p50_ms,
        each.p95_ms,
        each.p99_ms,
        each.max_ms,
        each.condition_p50_s,
        each.condition_p99_s,
    )


def _request_columns(kind: str, first: str) -> tuple[ReportColumn, ...]:
    return (
        _ms(f"{kind}_p50_ms", first),
        _ms(f"{kind}_p99_ms", "p99"),
        count(f"{kind}_requests", "Requests"),
    )


def _request_cells(each: LatencyFigures | None) -> Cells:
    return (None, None, None) if each is None else (each.p50_ms, each.p99_ms, each.count)


def _by_request(cells: Sequence[ChurnCell]) -> Iterator[Cells]:
    for cell in cells:
        for each in cell.control_plane.requests[:_MAX_REQUESTS]:
            yield (
                cell.network,
                cell.percent,
                each.verb,
                each.resource or "(none)",
                each.count,
                each.p50_ms,
                each.p95_ms,
                each.p99_ms,
            )


def _two(each: LatencyFigures | None) -> Cells:
    return (None, None) if each is None else (each.p50_ms, each.p99_ms)


def _usage_rows(cells: Sequence[ChurnCell]) -> Iterator[Cells]:
    quiet = {cell.network: cell.control_plane for cell in cells if not cell.percent}
    for cell in cells:
        base = {each.component: each for each in _usage_of(quiet.get(cell.network))}
        for each in sorted(cell.control_plane.usage, key=lambda one: -one.cores):
            before = base.get(each.component)
            yield (
                cell.network,
                cell.percent,
                each.component,
                each.cores,
                _change(each.cores, before.cores if before else None, cell),
                each.resident_bytes,
                _change(each.resident_bytes, before.resident_bytes if before else None, cell),
            )


def _usage_of(figures: ControlPlaneFigures | None) -> Sequence[ComponentUsage]:
    return () if figures is None else figures.usage


def _change(value: float, base: float | None, cell: ChurnCell) -> float | None:
    return 100 * (value / base - 1) if cell.percent and base else None


def _against(name: str) -> ReportColumn:
    return number(name, "Against 0 %", lambda change: f"{change:+.0f} %")


def _apiserver_p99(figures: ControlPlaneFigures) -> dict[str, float]:
    return {each.name: each.p99_ms for each in figures.requests_by_kind if each.p99_ms is not None}


def _etcd_p99(figures: ControlPlaneFigures) -> dict[str, float]:
    return {each.name: each.p99_ms for each in figures.etcd if each.p99_ms is not None}


def _ms(name: str, heading: str) -> ReportColumn:
    return number(name, heading, lambda ms: f"{ms:,.3g} ms" if ms < 1000 else f"{ms:,.0f} ms")


def _whole_seconds(name: str, heading: str) -> ReportColumn:
    return number(name, heading, lambda seconds: f"{seconds:g}")


# Pod readiness, latencies and CPUs over the level of churn.
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
