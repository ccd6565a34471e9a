"""Kinds of cause, and an incident with its causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.attribution.incidents.incident import Incident
from plimsoll.record.causes.causes_record import Cause
from plimsoll.search.evidence.host_cpu import HostCpu

CauseKind = Literal[
    "interrupt",
    "softirq",
    "task",
    "ipi",
    "tlb-shootdown",
    "timer-tick",
    "workqueue",
    "throttling",
    "stopped",
    "moved",
    "slept",
    "lock-contention",
    "rcu",
    "memory-pressure",
    "major-fault",
    "frequency",
    "idle-exit",
    "tester-stall",
    "hypervisor-steal",
    "stood-still",
    "hardware",
    "machine-check",
    "busy-elsewhere",
    "corrupt",
    "misdirected",
    "truncated",
    "unexplained",
]


@dataclass(frozen=True, slots=True)
class Explanation:
    """An incident and its causes in chain order: a tester's stall before what caused it."""

    incident: Incident
    causes: tuple[Cause, ...]

    @property
    def roots(self) -> tuple[Cause, ...]:
        """The ends of the chain: all but stalls of the tester that are explained themselves."""
        explained = {
            cause.place
            for cause in self.causes
            if cause.kind != "tester-stall"
            and (cause.owner == "tester" or cause.confidence == "counter")
        }
        return tuple(
            cause
            for cause in self.causes
            if cause.kind != "tester-stall"
            or not {cause.place, HostCpu(cause.host, None)} & explained
        )
