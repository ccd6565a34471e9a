"""What became of the time of each CPU under test."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from plimsoll.report.data.one_host import OneHost, percent
from plimsoll.report.data.role import owner_of

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
