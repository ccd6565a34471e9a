"""Incidents, kernel events and counters in; explanations out. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from plimsoll.attribution.absences.absence import Absence, meeting
from plimsoll.attribution.absences.stood_still import with_standstills
from plimsoll.attribution.explanation.confirm import confirmed
from plimsoll.attribution.explanation.counter_budget import CounterBudget
from plimsoll.attribution.explanation.evidence import IncidentEvidence
from plimsoll.attribution.explanation.explain_latency import explain_latency
from plimsoll.attribution.explanation.explain_loss import explain_loss
from plimsoll.attribution.explanation.explain_stall import explain_stall
from plimsoll.attribution.explanation.observations import Observations
from plimsoll.attribution.explanation.seen_windows import SeenWindow, seen_windows
from plimsoll.attribution.explanation.silences import silences
from plimsoll.attribution.explanation.unseen_stalls import blameable
from plimsoll.attribution.incidents.cause import Cause, Explanation
from plimsoll.attribution.incidents.dut_on_tester import named_as_dut
from plimsoll.attribution.incidents.incident import Incident, IncidentKind
from plimsoll.attribution.incidents.noise_tasks import noise_name
from plimsoll.attribution.incidents.windows import window_of

_EXPLAIN: Mapping[IncidentKind, Callable[[Incident, IncidentEvidence], tuple[Cause, ...]]] = {
    "stall": explain_stall,
    "latency": explain_latency,
    "loss": explain_loss,
}


def explain(
    seen: Observations, windows: Sequence[SeenWindow] | None = None
) -> tuple[Explanation, ...]:
    """The causes of each incident, in the incidents' order.

    `windows` are those of the incidents, where they have been read already.
    """
    if windows is None:
        windows = list(seen_windows(seen))
    suggested = _suggested(seen, windows)
    silent = silences(suggested)
    return tuple(
        Explanation(
            incident,
            tuple(
                _of_process(cause, seen)
                for cause in confirmed(causes, incident, seen.counters, seen.tsc_hz, silent)
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
    virtual = seen.ticks is not None and seen.ticks.virtual
    away: Mapping[int, Sequence[Absence]] = with_standstills(
        seen.loops, window.away, window.still, incident, seen.tsc_hz, virtual=virtual
    )
    if seen.stalls_measured:
        around = window_of(incident, seen.tsc_hz)
        away = {
            loop.cpu: blameable(loop, meeting(away[loop.cpu], *around), window.stalls)
            for loop in seen.loops
            if loop.cpu in away
        }
    return IncidentEvidence(
        loops=seen.loops,
        away=away,
        counters=seen.counters,
        coverage=seen.coverage,
        load=seen.load,
        tsc_hz=seen.tsc_hz,
        budget=budget,
        facts=window.facts,
        stalls=window.stalls if seen.stalls_measured else None,
        beats=window.beats,
        steal_measured=window.steal_measured,
        period=None if seen.ticks is None else round(seen.ticks.period_s * seen.tsc_hz),
    )


def _of_process(cause: Cause, seen: Observations) -> Cause:
    """With what is known of its process by its id; of a loop that was throttled, its cgroup."""
    if cause.kind == "throttling" and cause.cgroup is None:
        threads = (loop.thread_id for loop in seen.loops if loop.cpu == cause.cpu)
        found = (seen.cgroups.get(thread) for thread in threads)
        return replace(cause, cgroup=next((each for each in found if each is not None), None))
    if cause.pid is None:
        return cause
    of_dut = named_as_dut(cause, seen.loops)
    if of_dut is not None:
        return of_dut
    name = cause.name
    if cause.kind == "task" and cause.pid in seen.noise_tasks:
        name = noise_name(name, seen.noise_tasks[cause.pid])
    own = cause.kind == "task" and cause.pid in seen.own_threads
    cgroup = cause.cgroup or seen.cgroups.get(cause.pid)
    return replace(cause, cgroup=cgroup, name=name, own=own)
