"""Sets of times, and those around incidents whose kernel events are worth reading."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from plimsoll.attribution.incidents.incident import Incident

TickSpan = tuple[int, int]
Spans = tuple[TickSpan, ...]


def union(spans: Iterable[TickSpan]) -> Spans:
    """All of them; those that overlap or touch become one."""
    merged: list[TickSpan] = []
    for begin, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def common(sets: Iterable[Spans]) -> Spans:
    """The times that are in every set; none where there is no set."""
    each = list(sets)
    return reduce(_both, each) if each else ()


def within(spans: Spans, begin: int, end: int) -> Spans:
    """What of them lies between `begin` and `end`."""
    return _both(spans, ((begin, end),))


def ticks(spans: Spans) -> int:
    """How long they are together."""
    return sum(end - begin for begin, end in spans)


def _both(one: Spans, other: Spans) -> Spans:
    """In one pass over the two: away for microseconds at a time comes to thousands of spans."""
    found: list[TickSpan] = []
    first = second = 0
    while first < len(one) and second < len(other):
        begin = max(one[first][0], other[second][0])
        end = min(one[first][1], other[second][1])
        if begin < end:
            found.append((begin, end))
        if one[first][1] < other[second][1]:
            first += 1
        else:
            second += 1
    return tuple(found)


# A queue that a loop left behind while it was away is followed back for so long: it is
# drained within that time at all but the highest loads.
BEFORE_S = 0.02
# What ended an incident is often seen after it: the switch back to the loop, or, where that is
# missing in the trace, the next tick (4 ms with CONFIG_HZ=250).
AFTER_S = 0.005
IncidentWindow = tuple[int, int]


def window_of(incident: Incident, tsc_hz: float) -> IncidentWindow:
    """From its own length and 20 ms before it to 5 ms after it."""
    before = round(BEFORE_S * tsc_hz) + incident.ticks
    return max(0, incident.begin_tsc - before), incident.end_tsc + round(AFTER_S * tsc_hz)


def widened(window: IncidentWindow, clock_error: int) -> IncidentWindow:
    """The window on a host whose times may be off by so many ticks."""
    return max(0, window[0] - clock_error), window[1] + clock_error


def trace_windows(incidents: Iterable[Incident], tsc_hz: float) -> tuple[IncidentWindow, ...]:
    """Windows of all incidents in order, merged where they overlap."""
    merged: list[IncidentWindow] = []
    for begin, end in sorted(window_of(incident, tsc_hz) for incident in incidents):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def met_by(incidents: Iterable[Incident], windows: Sequence[IncidentWindow]) -> Iterator[Incident]:
    """Those of the incidents that reach into one of the windows, which are in order."""
    for incident in incidents:
        at = bisect_left(windows, incident.begin_tsc, key=lambda window: window[1])
        if at < len(windows) and windows[at][0] <= incident.end_tsc:
            yield incident
