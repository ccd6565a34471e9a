"""Incidents, kernel events and counters in; explanations out. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from plimsoll.attribution.absences.absence import Absence, meeting
from plimsoll.attribution.absences.clock_error import placed
from plimsoll.attribution.absences.stood_still import with_standstills
from plimsoll.attribution.explanation.confirm import confirmed
from plimsoll.attribution.explanation.counter_budget import CounterBudget
from plimsoll.attribution.explanation.evidence import HostEvidence, IncidentEvidence
from plimsoll.attribution.explanation.explain_latency import explain_latency
from plimsoll.attribution.explanation.explain_loss import explain_loss, reach_s
from plimsoll.attribution.explanation.explain_stall import explain_stall
from plimsoll.attribution.explanation.observations import HostObservations, Observations
from plimsoll.attribution.explanation.seen_windows import SeenWindow, seen_windows
from plimsoll.attribution.explanation.silences import silences
from plimsoll.attribution.explanation.unseen_stalls import blameable
from plimsoll.attribution.incidents.cause import Cause, Explanation
from plimsoll.attribution.incidents.dut_on_tester import named_as_dut
from plimsoll.attribution.incidents.incident import Incident, IncidentKind
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.noise_tasks import noise_name
from plimsoll.attribution.incidents.spans import TickSpan
from plimsoll.attribution.incidents.windows import widened, window_of

_EXPLAIN: Mapping[IncidentKind, Callable[[Incident, IncidentEvidence], tuple[Cause, ...]]] = {
    "stall": explain_stall,
    "latency": explain_latency,
    "loss": explain_loss,
}
# Of an incident: where times of another host may be off by more, nothing there is exact.
_LARGEST_EXACT_ERROR = 0.2


def explain(
    seen: Observations, windows: Sequence[SeenWindow] | None = None
) -> tuple[Explanation, ...]:
    """The causes of each incident, in the incidents' order.

    `windows` are those of the incidents, where they have been read already.
    """
    if windows is None:
        windows = list(seen_windows(seen))
    suggested = _suggested(seen, windows)
    silent, counters = silences(suggested), seen.all_counters
    return tuple(
        Explanation(
            incident,
            tuple(
                _as_sure_as_clocks(_of_process(cause, seen), incident, seen)
                for cause in confirmed(causes, incident, counters, seen.tsc_hz, silent)
            ),
        )
        for incident, causes in suggested
    )


def _suggested(
    seen: Observations, windows: Sequence[SeenWindow]
) -> list[tuple[Incident, tuple[Cause, ...]]]:
    """The causes that are left for each incident when the longer ones have theirs."""
    begins = [window.begin for window in windows]
    budget = CounterBudget(seen.tsc_hz)
    found: dict[int, tuple[Cause, ...]] = {}
    for place, incident in sorted(enumerate(seen.incidents), key=lambda each: -each[1].length_ns):
        window = windows[bisect_right(begins, incident.begin_tsc) - 1]
        evidence = _evidence(seen, window, incident, budget)
        found[place] = _EXPLAIN[incident.kind](incident, evidence)
    return [(incident, found[place]) for place, incident in enumerate(seen.incidents)]


def _evidence(
    seen: Observations, window: SeenWindow, incident: Incident, budget: CounterBudget
) -> IncidentEvidence:
    span = _span(incident, seen)
    away: dict[PollingLoop, Sequence[Absence]] = {}
    for host in seen.hosts:
        away |= _away(seen, host, window, incident, span)
    return IncidentEvidence(
        loops=seen.loops,
        away=away,
        counters=seen.all_counters,
        hosts={
            host: _host_evidence(seen, host, window, span)
            for host in {None, *(loop.host for loop in seen.loops)}
        },
        load=seen.load,
        tsc_hz=seen.tsc_hz,
        budget=budget,
        stalls=window.stalls if seen.stalls_measured else None,
        beats=window.beats,
        steal_measured=window.steal_measured,
    )


def _span(incident: Incident, seen: Observations) -> TickSpan:
    """In which time an absence has to be to be the reason; of a loss, from when a queue fills."""
    reach = round(reach_s(seen.load, incident) * seen.tsc_hz) if incident.kind == "loss" else 0
    return incident.begin_tsc - reach, max(incident.end_tsc, incident.begin_tsc + 1)


def _away(
    seen: Observations,
    host: HostObservations,
    window: SeenWindow,
    incident: Incident,
    span: TickSpan,
) -> Mapping[PollingLoop, Sequence[Absence]]:
    """Of the loops on one host; nothing where its times say nothing of the incident."""
    if _misplaced(host, span):
        return {}
    loops = seen.loops_on(host.host)
    away: Mapping[PollingLoop, Sequence[Absence]] = with_standstills(
        loops,
        {loop: window.away[loop] for loop in loops if loop in window.away},
        window.still,
        incident,
        seen.tsc_hz,
        virtual=host.ticks is not None and host.ticks.virtual,
        clock_error=host.clock_error,
    )
    around = widened(window_of(incident, seen.tsc_hz), host.clock_error)
    if seen.stalls_measured:
        away = {
            loop: blameable(loop, meeting(found, *around), window.stalls)
            for loop, found in away.items()
        }
    return placed(away, span, host.clock_error) if host.clock_error else away


def _misplaced(host: HostObservations, span: TickSpan) -> bool:
    """Whether its times may be off by more than there is of time."""
    return host.clock_error > span[1] - span[0]


def _host_evidence(
    seen: Observations, host: str | None, window: SeenWindow, span: TickSpan
) -> HostEvidence:
    known = seen.on(host)
    return HostEvidence(
        coverage=known.coverage,
        facts=window.facts.get(host, ()),
        period=None if known.ticks is None else round(known.ticks.period_s * seen.tsc_hz),
        clock_error=known.clock_error,
        misplaced=_misplaced(known, span),
    )


def _as_sure_as_clocks(cause: Cause, incident: Incident, seen: Observations) -> Cause:
    """Partial at most where the times of the cause's host are known no better."""
    error = seen.on(cause.host).clock_error
    if cause.confidence == "exact" and error > _LARGEST_EXACT_ERROR * incident.ticks:
        return replace(cause, confidence="partial")
    return cause


def _of_process(cause: Cause, seen: Observations) -> Cause:
    """With what is known of its process by its id; of a loop that was throttled, its cgroup."""
    there = seen.on(cause.host)
    if cause.kind == "throttling" and cause.cgroup is None:
        threads = (loop.thread_id for loop in seen.loops if loop.place == cause.place)
        found = (there.cgroups.get(thread) for thread in threads)
        return replace(cause, cgroup=next((each for each in found if each is not None), None))
    if cause.pid is None:
        return cause
    of_dut = named_as_dut(cause, seen.loops)
    if of_dut is not None:
        return of_dut
    name = cause.name
    if cause.kind == "task" and cause.pid in there.noise_tasks:
        name = noise_name(name, there.noise_tasks[cause.pid])
    own = cause.kind == "task" and cause.pid in there.own_threads
    cgroup = cause.cgroup or there.cgroups.get(cause.pid)
    return replace(cause, cgroup=cgroup, name=name, own=own)
