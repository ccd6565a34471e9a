"""Causes that events only suggest, held against the counters that would have moved with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from plimsoll.attribution.absences.absence import REFILLED
from plimsoll.attribution.explanation.counters import CounterMove
from plimsoll.attribution.explanation.silences import is_silence, silent_ticks
from plimsoll.attribution.incidents.incident import CauseKind, Incident
from plimsoll.attribution.incidents.spans import Spans
from plimsoll.record.causes.causes_record import Cause
from plimsoll.search.evidence.trial_evidence import HostCpu

# A task that could run while a CPU is idle, and one that waits after a page fault, are what
# throttling and a major fault look like; the counters say that they were.
_TO_BE_CONFIRMED: tuple[CauseKind, ...] = ("throttling", "major-fault")
# A tick works for microseconds. One that lasts longer than the time to the next one (4 ms with
# CONFIG_HZ=250, and some room) is a CPU that stood still in it,
# as virtual CPUs do that are not run for a while (seen: 15 ms).
_LONGEST_TICK_NS = 5_000_000
_NS_PER_S = 1e9
# The steal counter moves in steps of 10 ms, and not in the very moment.
_STOLEN_SHARE = 0.5


def confirmed(
    causes: tuple[Cause, ...],
    incident: Incident,
    counters: Sequence[CounterMove],
    tsc_hz: float,
    silent: Mapping[HostCpu, Spans] = MappingProxyType({}),
) -> tuple[Cause, ...]:
    """The causes; those that no counter confirms are partial at most.

    `silent` are the `silences` of all incidents, by CPU.
    """
    return tuple(_confirmed(cause, incident, counters, tsc_hz, silent) for cause in causes)


def _confirmed(
    cause: Cause,
    incident: Incident,
    counters: Sequence[CounterMove],
    tsc_hz: float,
    silent: Mapping[HostCpu, Spans],
) -> Cause:
    if cause.cpu is None:
        return cause
    if is_silence(incident, cause):
        return _stolen_during(cause, incident, counters, tsc_hz, silent.get(cause.place, ()))
    if cause.kind in _TO_BE_CONFIRMED:
        return _counted(cause, _move(cause.kind, cause.place, incident, counters))
    if cause.kind == "timer-tick" and (cause.length_ns or 0) > _LONGEST_TICK_NS:
        return _stood_still(cause, incident, counters)
    return cause


def _counted(cause: Cause, move: CounterMove | None) -> Cause:
    cgroup = cause.cgroup or (move.cgroup if move else None)
    if move is None or cause.name == REFILLED:
        return cause.model_copy(update={"cgroup": cgroup, "confidence": "partial"})
    return cause.model_copy(update={"cgroup": cgroup})


def _stood_still(cause: Cause, incident: Incident, counters: Sequence[CounterMove]) -> Cause:
    """By the hypervisor where its counter moved, else unknown.

    As sure as the kernel's trace is of the time, where the counter moved by as much.
    """
    move = _move("hypervisor-steal", cause.place, incident, counters)
    if move is None:
        name = f"the CPU stood still in {cause.name}"
        unexplained = {"kind": "unexplained", "confidence": "unexplained", "name": name}
        return cause.model_copy(update=unexplained)
    confidence = cause.confidence if _accounts_for(move, cause) else "counter"
    steal = {"kind": "hypervisor-steal", "name": move.name, "confidence": confidence}
    return cause.model_copy(update=steal)


def _stolen_during(
    cause: Cause,
    incident: Incident,
    counters: Sequence[CounterMove],
    tsc_hz: float,
    silent: Spans,
) -> Cause:
    """Partial where as much was stolen as all the silences lasted that it is to explain."""
    move = _move(cause.kind, cause.place, incident, counters)
    if move is None:
        return cause
    ticks = silent_ticks(silent, (move.begin_tsc, move.end_tsc))
    if (move.moved_ns or 0) < _STOLEN_SHARE * ticks / tsc_hz * _NS_PER_S:
        return cause
    return cause.model_copy(update={"confidence": "partial"})


def _accounts_for(move: CounterMove, cause: Cause) -> bool:
    """Whether as much was stolen as the cause lasted, as far as the counter can show it."""
    return (move.moved_ns or 0) >= _STOLEN_SHARE * (cause.length_ns or 0)


def _move(
    kind: str, place: HostCpu, incident: Incident, counters: Sequence[CounterMove]
) -> CounterMove | None:
    return next(
        (
            move
            for move in counters
            if move.kind == kind and move.meets(place, incident.begin_tsc, incident.end_tsc)
        ),
        None,
    )
