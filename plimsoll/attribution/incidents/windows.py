"""The times around incidents whose kernel events are worth reading."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.attribution.incidents.incident import Incident

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


def trace_windows(incidents: Iterable[Incident], tsc_hz: float) -> tuple[IncidentWindow, ...]:
    """Windows of all incidents in order, merged where they overlap."""
    merged: list[IncidentWindow] = []
    for begin, end in sorted(window_of(incident, tsc_hz) for incident in incidents):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)
