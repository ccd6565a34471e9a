"""A metric of each CPU over the trial, in equally long windows."""

from __future__ import annotations

import math
from collections.abc import Iterable

from plimsoll.record.query import ask
from plimsoll.record.query.breakout import Breakout
from plimsoll.record.query.metric_query import MetricQuery
from plimsoll.trial.outcome.host_metrics import HostMetrics
from plimsoll.trial.outcome.host_question import CpuRole, HostQuestion

# One CPU in one window: None where nothing was observed.
CpuWindows = tuple[float | None, ...]


def cpu_windows(
    metrics: HostMetrics, source: str, kind: str, cpus: CpuRole, most_points: int
) -> Iterable[tuple[str, CpuWindows]]:
    """By "host CPU n" the greatest value in each window; raises RecordError.

    There are as many windows as readings, or as `most_points` leaves for each CPU. mpstat
    numbers its CPUs `num`, other sources `cpu`.
    """
    name = "num" if source == "mpstat" else "cpu"
    found: dict[str, list[str]] = {}
    for figure in metrics.figures(HostQuestion(source, kind, cpus=cpus)):
        found.setdefault(figure.hostname, []).append(figure.names["cpu"])
    for host in metrics.hosts:
        if host.hostname in found:
            most = most_points // sum(map(len, found.values()))
            query = MetricQuery(
                source,
                kind,
                period=metrics.period,
                begin=round(metrics.begin_ms),
                end=round(metrics.end_ms),
                resolution=max(1, min(math.floor(metrics.length_s / host.interval_s), most)),
                breakouts=(
                    Breakout("hostname", "values", (host.hostname,)),
                    Breakout(name, "values", tuple(found[host.hostname])),
                ),
                over_time="max",
            )
            for row in ask(metrics.run, query).rows:
                yield f"{row.names[0]} CPU {row.names[1]}", row.values
