"""Incidents, kernel events and counters in; explanations out. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from plimsoll.attribution.absence import Absence, absences
from plimsoll.attribution.cause import Cause, Explanation
from plimsoll.attribution.confirm import confirmed
from plimsoll.attribution.counters import CounterMove
from plimsoll.attribution.coverage import TraceCoverage
from plimsoll.attribution.evidence import Evidence, absences_by_stalls
from plimsoll.attribution.explain_latency import explain_latency
from plimsoll.attribution.explain_loss import explain_loss
from plimsoll.attribution.explain_stall import explain_stall
from plimsoll.attribution.incident import Incident, IncidentKind
from plimsoll.attribution.loops import PollingLoop
from plimsoll.attribution.own_processes import is_own, own_name
from plimsoll.attribution.path_load import UNKNOWN_LOAD, PathLoad
from plimsoll.attribution.trace_reading import TraceReading
from plimsoll.attribution.unseen_stalls import with_unseen_stalls
from plimsoll.attribution.windows import Window, trace_windows
from plimsoll.observe.kernel_trace.event import KernelEvent

_EXPLAIN: Mapping[IncidentKind, Callable[[Incident, Evidence], tuple[Cause, ...]]] = {
    "stall": explain_stall,
    "latency": explain_latency,
    "loss": explain_loss,
}


def explain(
    incidents: Sequence[Incident],
    events: Sequence[KernelEvent],
    loops: Sequence[PollingLoop],
    counters: Sequence[CounterMove],
    lost: TraceCoverage,
    *,
    tsc_hz: float,
    load: PathLoad = UNKNOWN_LOAD,
    cgroups: Mapping[int, str] = MappingProxyType({}),
    own_pids: Collection[int] = (),
) -> tuple[Explanation, ...]:
    """The causes of each incident, in the incidents' order.

    `events` are by time, in ticks of the time stamp counter, and lie in the windows of
    `trace_windows(incidents, tsc_hz)`; others are not looked at. `lost` says where the
    trace is complete, `load` what is known of the DUT's queues, `cgroups` the cgroup of
    each process by its id, `own_pids` the threads of Plimsoll's own that are not called so.
    """
    stalls = _apart(incident for incident in incidents if incident.kind == "stall")
    times = [event.tsc for event in events]
    by_window: dict[Window, list[int]] = {}
    windows = trace_windows(incidents, tsc_hz)
    begins = [begin for begin, _ in windows]
    for index, incident in enumerate(incidents):
        window = windows[bisect_right(begins, incident.begin_tsc) - 1]
        by_window.setdefault(window, []).append(index)
    found: dict[int, Explanation] = {}
    for window, indices in by_window.items():
        seen = events[bisect_left(times, window[0]) : bisect_right(times, window[1])]
        reading = TraceReading(*window, loops)
        reading.read(seen)
        away = _absences(reading, loops, lost, stalls, tsc_hz)
        evidence = Evidence(loops, away, counters, lost, load, tsc_hz, reading.facts)
        for index in indices:
            causes = _EXPLAIN[incidents[index].kind](incidents[index], evidence)
            found[index] = Explanation(
                incidents[index],
                _known(confirmed(causes, incidents[index], counters), cgroups, own_pids),
            )
    return tuple(found[index] for index in range(len(incidents)))


def _apart(stalls: Iterable[Incident]) -> list[Incident]:
    """Of each loop, those that overlap as one: it is away once at a time."""
    merged: list[Incident] = []
    for stall in sorted(stalls, key=lambda each: (each.subject, each.begin_tsc)):
        last = merged[-1] if merged else None
        if last and last.subject == stall.subject and stall.begin_tsc < last.end_tsc:
            merged[-1] = replace(last, end_tsc=max(last.end_tsc, stall.end_tsc))
        else:
            merged.append(stall)
    return merged


def _absences(
    reading: TraceReading,
    loops: Sequence[PollingLoop],
    lost: TraceCoverage,
    stalls: Sequence[Incident],
    tsc_hz: float,
) -> dict[int, tuple[Absence, ...]]:
    """By the kernel's trace; of the tester's loops without one, by their own stalls."""
    away: dict[int, tuple[Absence, ...]] = {}
    for loop in loops:
        begin, end = lost.complete.get(loop.cpu, (1, 0))
        if begin <= end and begin < reading.end and end > reading.begin:
            seen = _since(absences(reading, loop, tsc_hz), begin)
            away[loop.cpu] = with_unseen_stalls(loop, seen, stalls)
        elif loop.owner == "tester":
            away[loop.cpu] = absences_by_stalls(loop, stalls)
    return away


def _since(found: tuple[Absence, ...], begin: int) -> tuple[Absence, ...]:
    """Without those that began where events were lost: who had the CPU there is not known."""
    return tuple(absence for absence in found if absence.begin >= begin)


def _known(
    causes: tuple[Cause, ...], cgroups: Mapping[int, str], own_pids: Collection[int]
) -> tuple[Cause, ...]:
    """With what is known of the processes by their ids."""
    return tuple(_of_process(cause, cgroups, own_pids) for cause in causes)


def _of_process(cause: Cause, cgroups: Mapping[int, str], own_pids: Collection[int]) -> Cause:
    if cause.pid is None:
        return cause
    own = cause.kind == "task" and cause.pid in own_pids and not is_own(cause.name)
    return replace(
        cause,
        cgroup=cause.cgroup or cgroups.get(cause.pid),
        name=own_name(cause.name) if own else cause.name,
    )
