"""How many incidents of a page are explained: as many as the events around them can be kept."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nlargest

from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.windows import trace_windows
from plimsoll.observe.kernel_trace.event import KernelEvent

# Of a trial. An event takes some 700 bytes; a trial of 20 s on two CPUs that are only polled has
# 4,000 to 27,000 around its incidents, where the kernel itself forwards it is millions.
MOST_EVENTS = 250_000
# Of a page, however many a trial has: enough for some ten incidents on CPUs that are only polled.
_LEAST_OF_A_PAGE = 1_000


def events_of_page(duration_s: float, page_s: float) -> int:
    """The budget of each page of a trial of this length."""
    return max(_LEAST_OF_A_PAGE, MOST_EVENTS // max(1, math.ceil(duration_s / page_s)))


def largest(incidents: Iterable[Incident], of_a_kind: int) -> list[Incident]:
    """So many of each kind, those with most lost frames and those that lasted longest."""
    by_kind: dict[str, list[Incident]] = {}
    for incident in incidents:
        by_kind.setdefault(incident.kind, []).append(incident)
    return [
        incident
        for same_kind in by_kind.values()
        for incident in nlargest(of_a_kind, same_kind, key=_size)
    ]


def within_budget(
    incidents: Sequence[Incident],
    events: Sequence[KernelEvent],
    tsc_hz: float,
    most_events: int,
) -> tuple[Sequence[Incident], Sequence[KernelEvent]]:
    """The largest incidents with all events around them, where these are not too many.

    At least one incident of each kind stays. `events` are by time, in ticks, and are those of
    the incidents' windows.
    """
    of_a_kind = max(Counter(each.kind for each in incidents).values(), default=0)
    while len(events) > most_events and of_a_kind > 1:
        of_a_kind //= 2
        incidents = largest(incidents, of_a_kind)
        events = _in_windows(incidents, events, tsc_hz)
    return incidents, events


def _in_windows(
    incidents: Iterable[Incident], events: Sequence[KernelEvent], tsc_hz: float
) -> list[KernelEvent]:
    times = [event.tsc for event in events]
    return [
        event
        for begin, end in trace_windows(incidents, tsc_hz)
        for event in events[bisect_left(times, begin) : bisect_right(times, end)]
    ]


def _size(incident: Incident) -> int:
    return incident.frames if incident.kind == "loss" else incident.length_ns
