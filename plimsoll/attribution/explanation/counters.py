"""Counters that moved during a trial: what is known where the kernel's trace says nothing."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.attribution.incidents.cause import CauseKind


@dataclass(frozen=True, slots=True)
class CounterMove:
    """A counter moved by `amount`, which is above zero, between two readings.

    The amount is what the counter's metric is in: of steal the share of the time, from 0 to 1.
    `kind` and `name` say what it counts: ("hypervisor-steal", "steal of CPU 1"),
    ("throttling", "/kubepods/pod1"), ("hardware", "SMIs"), ("task", "java"). `cpu` is None
    for a counter of the whole host or of a process.
    """

    kind: CauseKind
    name: str
    cpu: int | None
    begin_tsc: int
    end_tsc: int
    amount: float
    pid: int | None = None
    cgroup: str | None = None

    def meets(self, cpu: int, begin_tsc: int, end_tsc: int) -> bool:
        """Whether it may concern this CPU in this time."""
        same_cpu = self.cpu is None or self.cpu == cpu
        return same_cpu and self.begin_tsc <= end_tsc and begin_tsc <= self.end_tsc


# Both stop a CPU without a trace in its kernel.
INVISIBLE_TO_THE_KERNEL: tuple[CauseKind, ...] = ("hypervisor-steal", "hardware")
