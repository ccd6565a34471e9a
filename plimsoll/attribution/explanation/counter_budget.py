"""No counter explains more time than it moved by."""

from __future__ import annotations

from plimsoll.attribution.explanation.counters import CounterMove
from plimsoll.attribution.incidents.spans import Spans, TickSpan, ticks, union, within

_NS_PER_S = 1e9


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
