"""Causes that events only suggest, held against the counters that would have moved with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.attribution.explanation.absence import A_PAGE, WAITED
from plimsoll.attribution.explanation.counters import CounterMove
from plimsoll.attribution.incidents.cause import Cause, CauseKind
from plimsoll.attribution.incidents.incident import Incident

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
) -> tuple[Cause, ...]:
    """The causes; those that no counter confirms are partial at most."""
    return tuple(_confirmed(cause, incident, counters, tsc_hz) for cause in causes)


def _confirmed(
    cause: Cause, incident: Incident, counters: Sequence[CounterMove], tsc_hz: float
) -> Cause:
    if cause.cpu is None:
        return cause
    if cause.confidence == "counter":
        return _stolen_meanwhile(cause, incident, counters, tsc_hz)
    if cause.kind in _TO_BE_CONFIRMED:
        return _counted(cause, _move(cause.kind, cause.cpu, incident, counters))
    if cause.kind == "timer-tick" and (cause.length_ns or 0) > _LONGEST_TICK_NS:
        return _stood_still(cause, incident, counters, tsc_hz)
    waited = cause.kind == "slept" and cause.name == WAITED
    if waited and _move("major-fault", cause.cpu, incident, counters) is not None:
        # It waited, and it had a fault in that second: not seen to be the same moment.
        return replace(cause, kind="major-fault", name=A_PAGE, confidence="partial")
    return cause


def _counted(cause: Cause, move: CounterMove | None) -> Cause:
    if move is None:
        return replace(cause, confidence="partial")
    return replace(cause, cgroup=cause.cgroup or move.cgroup)


def _stood_still(
    cause: Cause, incident: Incident, counters: Sequence[CounterMove], tsc_hz: float
) -> Cause:
    """By the hypervisor where its counter moved, else unknown.

    As sure as the kernel's trace is of the time, where the counter moved by as much.
    """
    move = _move("hypervisor-steal", cause.cpu or 0, incident, counters)
    if move is None:
        name = f"the CPU stood still in {cause.name}"
        return replace(cause, kind="unexplained", name=name, confidence="unexplained")
    confidence = cause.confidence if _accounts_for(move, cause, tsc_hz) else "counter"
    return replace(cause, kind="hypervisor-steal", name=move.name, confidence=confidence)


def _stolen_meanwhile(
    cause: Cause, incident: Incident, counters: Sequence[CounterMove], tsc_hz: float
) -> Cause:
    """Partial where for many milliseconds nothing came through, and as much was stolen.

    A DUT that has its CPU and too much to do lets some frames through all the time.
    """
    lasted = incident.kind == "loss" and (cause.length_ns or 0) > _LONGEST_TICK_NS
    if not lasted or cause.kind != "hypervisor-steal":
        return cause
    move = _move(cause.kind, cause.cpu or 0, incident, counters)
    if move is None or not _accounts_for(move, cause, tsc_hz):
        return cause
    return replace(cause, confidence="partial")


def _accounts_for(move: CounterMove, cause: Cause, tsc_hz: float) -> bool:
    """Whether as much was stolen as the cause lasted, as far as the counter can show it."""
    stolen_ns = move.amount * (move.end_tsc - move.begin_tsc) / tsc_hz * _NS_PER_S
    return stolen_ns >= _STOLEN_SHARE * (cause.length_ns or 0)


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
