"""Loops that were moved off their CPU: from where, to where and for how long."""

from __future__ import annotations

from typing import NamedTuple

from plimsoll.attribution.absences.taker import Taker
from plimsoll.attribution.events.trace_reading import TraceReading
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.text.units import format_ns

_NS_PER_S = 1e9


class Moved(NamedTuple):
    """Where a loop was moved to; `traced` says that it is known when it ran there."""

    taker: Taker
    traced: bool


def moved(reading: TraceReading, loop: PollingLoop, at: int, tsc_hz: float) -> Moved | None:
    """Where the loop was at that time; None where it was not moved, or is back."""
    mine = [move for move in reading.moves if move.thread == loop.thread_id]
    before = [move for move in mine if move.tsc <= at]
    if not before or before[-1].target == loop.cpu:
        return None
    left = next((move for move in reversed(before) if move.origin == loop.cpu), before[0])
    back = next((move for move in mine if move.target == loop.cpu and move.tsc > at), None)
    length = "" if back is None else f" for {_length(back.tsc - left.tsc, tsc_hz)}"
    taker = Taker("moved", f"moved from CPU {loop.cpu} to CPU {left.target}{length}")
    return Moved(taker, traced=reading.is_traced(before[-1].target))


def _length(ticks: int, tsc_hz: float) -> str:
    return format_ns(round(ticks / tsc_hz * _NS_PER_S))
