"""How many incidents of a page are explained: as many as the events around them can be kept."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nlargest

from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.spans import trace_windows
from plimsoll.attribution.ranking.trace_gaps import unwatched_sentence
from plimsoll.dut.lab import LabModel
from plimsoll.observe.agent.host_trace import NO_CPU_NAMED
from plimsoll.observe.agent.settings import ObserveSettings
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from plimsoll.record.causes.causes_record import UnwatchedDut

# Of a trial. An event takes some 700 bytes; a trial of 20 s on two CPUs that are only polled has
# 4,000 to 27,000 around its incidents, where the kernel itself forwards it is millions.
MAX_EVENTS = 250_000
# Of a short one: to explain an event takes 7 us of a CPU (two shared vCPUs), so that explaining a
# trial of a second takes no longer than that second does.
_MAX_OF_A_SECOND = 50_000
# Of a page, however many a trial has: enough for some ten incidents on CPUs that are only polled.
_MIN_OF_A_PAGE = 1_000
NO_HOST_NAMED = UnwatchedDut(
    host=None,
    reason="the DUT runs elsewhere, and no host of it is named",
    remedy="name it under observe.hosts, with the CPUs that it polls as polled_cpus",
)


def events_of_trial(duration_s: float) -> int:
    """The budget of a trial that is read at its end; a short one has that of a second."""
    return min(MAX_EVENTS, math.ceil(_MAX_OF_A_SECOND * max(1.0, duration_s)))


def events_of_page(duration_s: float, page_s: float) -> int:
    """The budget of each page of a trial of this length."""
    return max(_MIN_OF_A_PAGE, MAX_EVENTS // max(1, math.ceil(duration_s / page_s)))


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


def likely_within_budget(
    incidents: Sequence[Incident], events_per_s: float, tsc_hz: float, most_events: int
) -> Sequence[Incident]:
    """The largest incidents around which there are not too many events, by their mean rate.

    For choosing before events are read: the reader takes so many of a CPU, and where it has to
    leave some out it is not known what else happened. At least one incident of each kind stays.
    """
    return _fewer(incidents, lambda left: events_per_s * _windows_s(left, tsc_hz) > most_events)


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
    times = [event.tsc for event in events]

    def around(left: Sequence[Incident]) -> Iterator[tuple[int, int]]:
        """Places in `events`."""
        for begin, end in trace_windows(left, tsc_hz):
            yield bisect_left(times, begin), bisect_right(times, end)

    def too_many(left: Sequence[Incident]) -> bool:
        return sum(behind - first for first, behind in around(left)) > most_events

    if len(events) <= most_events:
        return incidents, events
    kept = _fewer(incidents, too_many)
    return kept, [event for first, behind in around(kept) for event in events[first:behind]]


def _fewer(
    incidents: Sequence[Incident], too_many: Callable[[Sequence[Incident]], bool]
) -> Sequence[Incident]:
    """By halves, until it is not too many any more."""
    of_a_kind = max(Counter(each.kind for each in incidents).values(), default=0)
    while of_a_kind > 1 and too_many(incidents):
        of_a_kind //= 2
        incidents = largest(incidents, of_a_kind)
    return incidents


def _windows_s(incidents: Iterable[Incident], tsc_hz: float) -> float:
    return sum(end - begin for begin, end in trace_windows(incidents, tsc_hz)) / tsc_hz


def _size(incident: Incident) -> int:
    return incident.frames if incident.kind == "loss" else incident.length_ns


# Where absences of a DUT will not be watched, by the experiment alone.
def planned_watch(lab: LabModel, observe: ObserveSettings) -> Iterator[str]:
    """What is to be said beforehand of how absences of the DUT will be watched, in sentences."""
    if not (observe.enabled and observe.kernel_events):
        return
    if lab.runs_elsewhere and not observe.hosts:
        yield unwatched_sentence(NO_HOST_NAMED)
    for host in observe.hosts:
        if not host.polled_cpus and lab.runs_elsewhere:
            why = NO_CPU_NAMED
            yield unwatched_sentence(
                UnwatchedDut(host=host.name, reason=why.reason, remedy=why.remedy)
            )
        elif host.polled_cpus and host.pod is not None:
            yield (
                f"Absences of the DUT on {host.name} are watched only if its container is "
                "privileged and its pod has hostPID: true (docs/kubernetes.md)."
            )
