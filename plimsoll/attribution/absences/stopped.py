"""Loops that were stopped: by a signal, a tracer or the freezer of a cgroup, and by whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from plimsoll.attribution.events.cpu_timeline import Slice
from plimsoll.attribution.events.trace_reading import Kick, TraceReading
from plimsoll.attribution.incidents.incident import CauseKind
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import TickSpan


@dataclass(frozen=True, slots=True)
class Taker:
    """What had the CPU. Two that are equal are the same thing at different times."""

    kind: CauseKind
    name: str
    pid: int | None = None


# From the freezer's interrupt to the loop's leaving its CPU, and from its letting go to its return.
_KICKED_S = 500e-6
_LET_GO_S = 0.005
_OF_ITS_CGROUP = "the freezer of its cgroup"
# freeze_task (kernel/freezer.c), cgroup_freeze_task (kernel/cgroup/freezer.c).
_FREEZING = "freeze_task"


class Stop(NamedTuple):
    """What stopped a loop, and who did it where that was seen."""

    taker: Taker
    sender: str | None


def stopped(
    reading: TraceReading, loop: PollingLoop, piece: Slice, away: TickSpan, tsc_hz: float
) -> Stop | None:
    """What stopped the loop in this part of an absence, `away`; None if nothing did."""
    match piece.loop_left_as:
        case "stopped":
            return _by_signal(reading, loop, piece)
        case "traced":
            return Stop(Taker("stopped", "a tracer"), _tracer(reading, loop, piece, away[0]))
        case "slept" | "blocked":
            return _by_freezer(reading, loop, away, tsc_hz)
        case _:
            return None


def _by_signal(reading: TraceReading, loop: PollingLoop, piece: Slice) -> Stop:
    for signal in reversed(reading.signals):
        if signal.tsc <= piece.end and signal.is_to(loop):
            return Stop(Taker("stopped", signal.text), signal.sender)
    return Stop(Taker("stopped", "a signal"), None)


def _tracer(reading: TraceReading, loop: PollingLoop, piece: Slice, left: int) -> str | None:
    """Who attached: that sends a SIGSTOP (PTRACE_ATTACH), or interrupts the loop's CPU."""
    by_signal = _by_signal(reading, loop, piece).sender
    if by_signal is not None:
        return by_signal
    kick = _last_kick(reading, loop, left)
    return None if kick is None else kick.sender


def _by_freezer(
    reading: TraceReading, loop: PollingLoop, away: TickSpan, tsc_hz: float
) -> Stop | None:
    """By the freezer's events (cgroup v2), or by the interrupt that it sends (v1 as well).

    Its events are those of any cgroup: one that was frozen before the loop left and let go just
    before its return is the loop's.
    """
    left, back = away
    let_go = back - round(_LET_GO_S * tsc_hz)
    thawed = {f.cgroup for f in reading.freezes if not f.frozen and let_go <= f.tsc <= back}
    for frozen in reversed(reading.freezes):
        if frozen.frozen and frozen.tsc <= left and frozen.cgroup in thawed:
            return Stop(Taker("stopped", f"the freezer of {frozen.cgroup}"), frozen.sender)
    sender = _frozen_by(reading, loop, away, tsc_hz)
    return None if sender is None else Stop(Taker("stopped", _OF_ITS_CGROUP), sender)


def _frozen_by(
    reading: TraceReading, loop: PollingLoop, away: TickSpan, tsc_hz: float
) -> str | None:
    """Who interrupted the loop's CPU just before it left, for the freezer by what that says.

    A CPU that is interrupted anyway is not interrupted once more for the freezer. Then it was that
    if the same task let the loop go: a loop that waits for a page or for a lock waits by its own
    doing, and is woken by others.
    """
    left, back = away
    since = left - round(_KICKED_S * tsc_hz)
    kicks = [k for k in reading.kicks if k.cpu == loop.cpu and since <= k.tsc <= left]
    for kick in kicks:
        if _FREEZING in kick.function:
            return kick.sender
    if any(
        f.name == "page_fault" and f.cpu == loop.cpu and since <= f.tsc <= left
        for f in reading.facts
    ):
        return None
    wakes = [w for w in reading.wakes if w.thread == loop.thread_id and left <= w.tsc <= back]
    waker = wakes[-1].waker if wakes else None
    return waker if waker is not None and waker in {kick.sender for kick in kicks} else None


def _last_kick(reading: TraceReading, loop: PollingLoop, left: int) -> Kick | None:
    before = (k for k in reversed(reading.kicks) if k.cpu == loop.cpu and k.tsc <= left)
    return next(before, None)
