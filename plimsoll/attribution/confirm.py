"""Causes that events only suggest, held against the counters that would have moved with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.attribution.absence import A_PAGE, WAITED
from plimsoll.attribution.cause import Cause, CauseKind
from plimsoll.attribution.counters import CounterMove
from plimsoll.attribution.incident import Incident

# A task that could run beside an idle CPU, and one that waits after a page fault, are what
# throttling and a major fault look like; the counters say that they were.
_TO_BE_CONFIRMED: tuple[CauseKind, ...] = ("throttling", "major-fault")


def confirmed(
    causes: tuple[Cause, ...], incident: Incident, counters: Sequence[CounterMove]
) -> tuple[Cause, ...]:
    """The causes; those that no counter confirms are partial at most."""
    return tuple(_confirmed(cause, incident, counters) for cause in causes)


def _confirmed(cause: Cause, incident: Incident, counters: Sequence[CounterMove]) -> Cause:
    if cause.cpu is None or cause.confidence == "counter":
        return cause
    if cause.kind in _TO_BE_CONFIRMED:
        move = _move(cause.kind, cause.cpu, incident, counters)
        if move is None:
            return replace(cause, confidence="partial")
        return replace(cause, cgroup=cause.cgroup or move.cgroup)
    waited = cause.kind == "slept" and cause.name == WAITED
    if waited and _move("major-fault", cause.cpu, incident, counters) is not None:
        # It waited, and it had a fault in that second: not seen to be the same moment.
        return replace(cause, kind="major-fault", name=A_PAGE, confidence="partial")
    return cause


def _move(
    kind: CauseKind, cpu: int, incident: Incident, counters: Sequence[CounterMove]
) -> CounterMove | None:
    return next(
        (
            move
            for move in counters
            if move.kind == kind and move.meets(cpu, incident.begin_tsc, incident.end_tsc)
        ),
        None,
    )
