"""What became of the time of each CPU under test."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.record.query import ask
from plimsoll.record.query.breakout import Breakout
from plimsoll.record.query.metric_query import MetricQuery
from plimsoll.report.data.one_host import OneHost, percent
from plimsoll.report.data.role import owner_of
from plimsoll.trial.outcome.host_metrics import HostMetrics
from plimsoll.trial.outcome.host_question import CpuRole, HostQuestion

# What mpstat's states are added up to, and their names in the table.
_STATES = {
    # Guests' time is user time to the kernel too (proc(5)).
    "user": ("usr", "nice", "guest", "gnice"),
    "system": ("sys",),
    "interrupts": ("irq",),
    "softirqs": ("soft",),
    "stolen": ("steal",),
    "idle": ("idle", "iowait"),
}
CPU_COLUMNS = tuple(_STATES)
# One CPU in one window: None where nothing was observed.
CpuWindows = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class CpuLine:
    """One CPU: the shares of its time in CPU_COLUMNS."""

    where: str
    polled_by: str
    shares: tuple[str, ...]


def cpu_lines(host: OneHost) -> tuple[CpuLine, ...]:
    """The CPUs under test, ascending; none where they were not observed."""
    return tuple(
        CpuLine(
            where=f"{host.host.hostname} CPU {cpu}",
            polled_by=owner_of(host.host, cpu),
            shares=tuple(percent(share) for share in shares.values()),
        )
        for cpu, shares in sorted(cpu_shares(host).items())
    )


def cpu_shares(host: OneHost) -> dict[int, dict[str, float]]:
    """By CPU under test, the share of its time that went into each of CPU_COLUMNS."""
    by_state: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for kind in ("Busy-CPU", "NonBusy-CPU"):
        for figure in host.figures("mpstat", kind, cpus="under-test", by=("type",)):
            by_state[int(figure.names["cpu"])][figure.names["type"]] = figure.mean
    return {
        cpu: {name: sum(states.get(each, 0.0) for each in of) for name, of in _STATES.items()}
        for cpu, states in by_state.items()
    }


# A metric of each CPU over the trial, in equally long windows.
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
