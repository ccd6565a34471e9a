"""Counters that moved during a trial, from what the observers of a host recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from plimsoll.attribution.explanation.counters import PROC_STAT_UNIT_NS, CounterMove
from plimsoll.attribution.incidents.cause import CauseKind
from plimsoll.record.metrics.metrics import query_hosts
from plimsoll.record.run.run_directory import RunDirectory

_NS_PER_MS = 1_000_000
_MS_PER_S = 1000
# Source and type, the condition on its names, and what a move of it may be the cause of. Page
# faults of the whole host are not among them: whose they are is not known.
_COUNTED: dict[tuple[str, str], tuple[str, CauseKind]] = {
    ("mpstat", "Busy-CPU"): ("names['type'] = 'steal'", "hypervisor-steal"),
    ("smi", "smis-sec"): ("true", "hardware"),
    ("cgroup", "cpu-throttled-usec-sec"): ("true", "throttling"),
}


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
