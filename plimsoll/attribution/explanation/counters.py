"""Counters that moved during a trial: what is known where the kernel's trace says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from plimsoll.attribution.incidents.incident import CauseKind
from plimsoll.attribution.incidents.spans import Spans, TickSpan, ticks, union, within
from plimsoll.record.metrics.metrics import query_hosts
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.search.evidence.trial_evidence import HostCpu

_NS_PER_S = 1e9
_NS_PER_MS = 1_000_000
_MS_PER_S = 1000
# Source and type, the condition on its names, and what a move of it may be the cause of. Page
# faults of the whole host are not among them: whose they are is not known.
_COUNTED: dict[tuple[str, str], tuple[str, CauseKind]] = {
    ("mpstat", "Busy-CPU"): ("names['type'] = 'steal'", "hypervisor-steal"),
    ("smi", "smis-sec"): ("true", "hardware"),
    ("cgroup", "cpu-throttled-usec-sec"): ("true", "throttling"),
}


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


# No counter explains more time than it moved by.
class CounterBudget:
    """What of each counter's moves is explained by already; the longest incidents ask first."""

    def __init__(self, tsc_hz: float) -> None:
        self._tsc_hz = tsc_hz
        self._claimed: dict[CounterMove, Spans] = {}

    def grants(self, move: CounterMove, claim: TickSpan, length_ns: int) -> bool:
        """Whether the move can be why a CPU stood still in all of `claim`.

        `length_ns` is how long the incident itself lasted: what is shorter than the counter's
        unit may be anywhere between two steps of it. A time that several incidents share, as
        those of two streams do, counts once.
        """
        if length_ns < move.unit_ns:
            return False
        fresh = within((claim,), move.begin_tsc, move.end_tsc)
        spans = union((*self._claimed.get(move, ()), *fresh))
        if not self._holds(move, spans):
            return False
        self._claimed[move] = spans
        return True

    def _holds(self, move: CounterMove, spans: Spans) -> bool:
        if move.moved_ns is None:
            return len(spans) <= move.events
        return ticks(spans) / self._tsc_hz * _NS_PER_S <= move.moved_ns + move.unit_ns


# Counters that moved during a trial, from what the observers of a host recorded.
class WallClock(Protocol):
    """A host's wall clock on the tester's TSC."""

    def tsc(self, unix_ns: int) -> int:
        """The TSC at that time."""


def counter_moves(
    run: RunDirectory, period: str, hostname: str, clock: WallClock, host: str | None = None
) -> list[CounterMove]:
    """The readings between which a counter moved, by time. Raises RecordError.

    `clock` is that of the host that the observer calls `hostname`; `host` is what the moves have,
    None for the tester's own.
    """
    counted = " OR ".join(
        f"(source = '{source}' AND type = '{kind}' AND {condition})"
        for (source, kind), (condition, _) in _COUNTED.items()
    )
    statement = f"""
        SELECT source, type, names['num'], names['cgroup'], begin_ms, end_ms, value
        FROM rows WHERE value > 0 AND names['hostname'] = ? AND ({counted})
        ORDER BY begin_ms, source, type
    """  # noqa: S608 - of constants alone
    (rows,) = query_hosts(run, period, [(statement, [hostname])])
    return [_move(row, clock, host) for row in rows]


def _move(row: Sequence[Any], clock: WallClock, host: str | None) -> CounterMove:
    source, kind, cpu, cgroup, begin_ms, end_ms, value = row
    _, cause = _COUNTED[source, kind]
    length_s = (end_ms - begin_ms) / _MS_PER_S
    return CounterMove(
        kind=cause,
        name=_name(cause, cpu, cgroup),
        cpu=None if cpu is None else int(cpu),
        begin_tsc=clock.tsc(begin_ms * _NS_PER_MS),
        end_tsc=clock.tsc(end_ms * _NS_PER_MS),
        moved_ns=_moved_ns(cause, float(value), length_s),
        unit_ns=PROC_STAT_UNIT_NS if cause == "hypervisor-steal" else 0,
        events=max(1, round(float(value) * length_s)),
        cgroup=cgroup,
        host=host,
    )


def _moved_ns(cause: CauseKind, value: float, length_s: float) -> int | None:
    """The time that was counted: of shares of a CPU, and of us a second; None for events."""
    match cause:
        case "hypervisor-steal":
            return round(value * length_s * 1e9)
        case "throttling":
            return round(value * length_s * 1e3)
        case _:
            return None


def _name(cause: CauseKind, cpu: str | None, cgroup: str | None) -> str:
    match cause:
        case "hypervisor-steal":
            return f"steal of CPU {cpu}"
        case "throttling":
            return cgroup or "a cgroup"
        case _:
            return "SMIs"
