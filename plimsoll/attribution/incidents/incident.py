"""An incident, be it a spike, a loss or a stall; its causes, and how it is shared among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.record.causes.causes_record import Cause
from plimsoll.search.evidence.trial_evidence import HostCpu

IncidentKind = Literal["latency", "loss", "stall"]


@dataclass(frozen=True, slots=True)
class Incident:
    """What is to be explained, in ticks of the time stamp counter.

    `subject` is a stream ("load/0-1"), or "CPU 0" for a stall of the tester's loop on it.
    A latency begins when the frame was sent and ends when it was received. A loss begins
    with the send time of the last frame before the gap in the sequence and ends with that
    of the first one after it. `frames` are the lost frames, or those of the spike; 0 for a
    stall. Lost frames are `refused` where the port had no room for them: then only who empties
    its queue can be to blame. `length_ns` is the latency, the stall, or the time in which
    lost frames were sent.
    """

    kind: IncidentKind
    subject: str
    begin_tsc: int
    end_tsc: int
    frames: int
    length_ns: int
    refused: bool = False

    @property
    def ticks(self) -> int:
        """How long it lasted."""
        return max(0, self.end_tsc - self.begin_tsc)


def stall_subject(cpu: int) -> str:
    """The subject of a stall of the tester's loop on this CPU."""
    return f"CPU {cpu}"


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


def weights(explanation: Explanation) -> list[tuple[Cause, float]]:
    """The roots with their shares, which add up to 1; empty without causes.

    Those that account for a known number of frames have these; the others share the rest, in
    proportion to how long each had the CPU. Those of unknown length, known from counters alone,
    share equally what the others leave of the incident.
    """
    roots = explanation.roots
    frames = max(1, explanation.incident.frames)
    counted = [(cause, min(1.0, (cause.frames or 0.0) / frames)) for cause in roots if cause.frames]
    left = max(0.0, 1.0 - sum(share for _, share in counted))
    others = _by_length(explanation, [cause for cause in roots if not cause.frames])
    return [*((cause, share * left) for cause, share in others), *counted]


def _by_length(explanation: Explanation, roots: list[Cause]) -> list[tuple[Cause, float]]:
    if not roots:
        return []
    known = sum(cause.length_ns for cause in roots if cause.length_ns is not None)
    unknown = sum(cause.length_ns is None for cause in roots)
    rest = max(0, explanation.incident.length_ns - known) / unknown if unknown else 0.0
    lengths = [rest if cause.length_ns is None else float(cause.length_ns) for cause in roots]
    total = sum(lengths)
    if total <= 0:
        return [(cause, 1 / len(roots)) for cause in roots]
    return [(cause, length / total) for cause, length in zip(roots, lengths, strict=True)]
