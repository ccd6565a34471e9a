"""Counters that moved during a trial: what is known where the kernel's trace says nothing."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.attribution.incidents.cause import CauseKind
from plimsoll.host.host_cpu import HostCpu


@dataclass(frozen=True, slots=True)
class CounterMove:
    """A counter moved between two readings.

    `moved_ns` is the time that it counted, in steps of `unit_ns`; None for one that counts events,
    which then were so many `events`. `kind` and `name` say what it counts: ("hypervisor-steal",
    "steal of CPU 1"), ("throttling", "/kubepods/pod1"), ("hardware", "SMIs"). `cpu` is None for a
    counter of the whole host or of a process; `host` is whose counter it is.
    """

    kind: CauseKind
    name: str
    cpu: int | None
    begin_tsc: int
    end_tsc: int
    moved_ns: int | None = None
    unit_ns: int = 0
    events: int = 1
    pid: int | None = None
    cgroup: str | None = None
    host: str | None = None

    def meets(self, place: HostCpu, begin_tsc: int, end_tsc: int) -> bool:
        """Whether it may concern this CPU in this time."""
        same_cpu = self.host == place.host and self.cpu in (None, place.cpu)
        return same_cpu and self.begin_tsc <= end_tsc and begin_tsc <= self.end_tsc


# Both stop a CPU without a trace in its kernel.
INVISIBLE_TO_THE_KERNEL: tuple[CauseKind, ...] = ("hypervisor-steal", "hardware")
# /proc/stat counts in USER_HZ, which is 100 on every architecture that Linux still supports.
PROC_STAT_UNIT_NS = 10_000_000
