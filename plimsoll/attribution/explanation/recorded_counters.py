"""Counters that moved during a trial, from what the observers of this host recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.attribution.explanation.counters import CounterMove
from plimsoll.attribution.incidents.cause import CauseKind
from plimsoll.record.metrics.metrics import query_hosts
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.clock_fit import ClockFit

_NS_PER_MS = 1_000_000
# Source and type, the condition on its names, and what a move of it may be the cause of.
_COUNTED: dict[tuple[str, str], tuple[str, CauseKind]] = {
    ("mpstat", "Busy-CPU"): ("names['type'] = 'steal'", "hypervisor-steal"),
    ("smi", "smis-sec"): ("true", "hardware"),
    ("cgroup", "cpu-throttled-usec-sec"): ("true", "throttling"),
    ("sar-mem", "Page-major-faults-sec"): ("true", "major-fault"),
}


def counter_moves(
    run: RunDirectory, period: str, hostname: str, fit: ClockFit
) -> list[CounterMove]:
    """The readings between which a counter moved, by time. Raises RecordError."""
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
    return [_move(row, fit) for row in rows]


def _move(row: Sequence[Any], fit: ClockFit) -> CounterMove:
    source, kind, cpu, cgroup, begin_ms, end_ms, value = row
    _, cause = _COUNTED[source, kind]
    return CounterMove(
        kind=cause,
        name=_name(cause, cpu, cgroup),
        cpu=None if cpu is None else int(cpu),
        begin_tsc=fit.tsc(begin_ms * _NS_PER_MS),
        end_tsc=fit.tsc(end_ms * _NS_PER_MS),
        amount=float(value),
        cgroup=cgroup,
    )


def _name(cause: CauseKind, cpu: str | None, cgroup: str | None) -> str:
    match cause:
        case "hypervisor-steal":
            return f"steal of CPU {cpu}"
        case "hardware":
            return "SMIs"
        case "throttling":
            return cgroup or "a cgroup"
        case _:
            return "major page faults of the host"
