"""A cause: what took a polling loop's CPU, for how long, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import LoopOwner
from plimsoll.search.evidence.host_cpu import HostCpu

Confidence = Literal["exact", "partial", "counter", "unexplained"]
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
class Cause:
    """One cause of one incident.

    `name` says what it was ("kworker/1:2 (vmstat_update)", "irq 24 virtio0-input.0"),
    `owner` and `cpu` whose CPU it took, on `host` (None: the tester's own). `begin_tsc` is when it
    began to, on another host as well as its clock is known, `length_ns` for how long it kept the
    CPU within the incident. What filled a queue counts from its own begin: the cause of a loss,
    and one that left a queue behind in which a frame waited later. None stands for what is not
    known. `own` says that it is a task of Plimsoll's own. `frames` are those of a loss that it
    accounts for, where that does not follow from its length.

    Confidence: "exact" where intervals that the kernel saw cover at least 80 % of the
    incident, "partial" where they cover less, where only the queue that they left behind
    explains it, or where the host's clock is known no better than to a fifth of the incident,
    "counter" where only a counter moved in that second.
    """

    kind: CauseKind
    name: str
    owner: LoopOwner | None
    cpu: int | None
    pid: int | None
    cgroup: str | None
    woken_by: str | None
    begin_tsc: int | None
    length_ns: int | None
    confidence: Confidence
    own: bool = False
    frames: float | None = None
    host: str | None = None

    @property
    def place(self) -> HostCpu:
        """The CPU that it took, and of which host."""
        return HostCpu(self.host, self.cpu)


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
