"""The times around incidents whose kernel events are worth reading."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

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
