"""Causes that events only suggest, held against the counters that would have moved with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
    if cause.kind not in _TO_BE_CONFIRMED or cause.cpu is None or cause.confidence == "counter":
        return cause
    for move in counters:
        if move.kind == cause.kind and move.meets(cause.cpu, incident.begin_tsc, incident.end_tsc):
            return replace(cause, cgroup=cause.cgroup or move.cgroup)
    return replace(cause, confidence="partial")
