"""Incidents, kernel events and counters in; explanations out. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from plimsoll.attribution.events.coverage import TraceCoverage
from plimsoll.attribution.explanation.confirm import confirmed
from plimsoll.attribution.explanation.counters import CounterMove
from plimsoll.attribution.explanation.evidence import IncidentEvidence
from plimsoll.attribution.explanation.explain_latency import explain_latency
from plimsoll.attribution.explanation.explain_loss import explain_loss
from plimsoll.attribution.explanation.explain_stall import explain_stall
from plimsoll.attribution.explanation.path_load import UNKNOWN_LOAD, PathLoad
from plimsoll.attribution.explanation.seen_windows import SeenWindow, seen_windows
from plimsoll.attribution.explanation.silences import silences
from plimsoll.attribution.incidents.cause import Cause, Explanation
from plimsoll.attribution.incidents.incident import Incident, IncidentKind
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.noise_tasks import noise_name
from plimsoll.attribution.incidents.own_processes import is_own, own_name
from plimsoll.observe.kernel_trace.event import KernelEvent

_EXPLAIN: Mapping[IncidentKind, Callable[[Incident, IncidentEvidence], tuple[Cause, ...]]] = {
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
    noise_tasks: Mapping[int, str] = MappingProxyType({}),
    windows: Sequence[SeenWindow] | None = None,
) -> tuple[Explanation, ...]:
    """The causes of each incident, in the incidents' order.

    `events` are by time, in ticks of the time stamp counter, and lie in the windows of
    `trace_windows(incidents, tsc_hz)`; others are not looked at. `lost` says where the
    trace is complete, `load` what is known of the DUT's queues, `cgroups` the cgroup of
    each process by its id, `own_pids` the threads of Plimsoll's own that are not called so,
    `noise_tasks` those of the experiment's neighbours, by whose they are; `windows` are those of
    the incidents, where they are known already.
    """
    if windows is None:
        windows = list(seen_windows(incidents, events, loops, lost, counters, tsc_hz=tsc_hz))
    begins = [window.begin for window in windows]
    suggested = []
    for incident in incidents:
        seen = windows[bisect_right(begins, incident.begin_tsc) - 1]
        evidence = IncidentEvidence(loops, seen.away, counters, lost, load, tsc_hz, seen.facts)
        suggested.append((incident, _EXPLAIN[incident.kind](incident, evidence)))
    silent = silences(suggested)
    return tuple(
        Explanation(
            incident,
            _known(
                confirmed(causes, incident, counters, tsc_hz, silent),
                cgroups,
                own_pids,
                noise_tasks,
            ),
        )
        for incident, causes in suggested
    )


def _known(
    causes: tuple[Cause, ...],
    cgroups: Mapping[int, str],
    own_pids: Collection[int],
    noise_tasks: Mapping[int, str],
) -> tuple[Cause, ...]:
    """With what is known of the processes by their ids."""
    return tuple(_of_process(cause, cgroups, own_pids, noise_tasks) for cause in causes)


def _of_process(
    cause: Cause,
    cgroups: Mapping[int, str],
    own_pids: Collection[int],
    noise_tasks: Mapping[int, str],
) -> Cause:
    if cause.pid is None:
        return cause
    name = cause.name
    if cause.kind == "task" and cause.pid in noise_tasks:
        name = noise_name(name, noise_tasks[cause.pid])
    elif cause.kind == "task" and cause.pid in own_pids and not is_own(name):
        name = own_name(name)
    return replace(cause, cgroup=cause.cgroup or cgroups.get(cause.pid), name=name)
