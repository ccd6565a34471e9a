"""Incidents, kernel events and counters in; explanations out. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from plimsoll.attribution.explanation.confirm import confirmed
from plimsoll.attribution.explanation.evidence import IncidentEvidence
from plimsoll.attribution.explanation.explain_latency import explain_latency
from plimsoll.attribution.explanation.explain_loss import explain_loss
from plimsoll.attribution.explanation.explain_stall import explain_stall
from plimsoll.attribution.explanation.observations import Observations
from plimsoll.attribution.explanation.seen_windows import SeenWindow, seen_windows
from plimsoll.attribution.explanation.silences import silences
from plimsoll.attribution.incidents.cause import Cause, Explanation
from plimsoll.attribution.incidents.incident import Incident, IncidentKind
from plimsoll.attribution.incidents.noise_tasks import noise_name
from plimsoll.attribution.incidents.own_processes import is_own, own_name

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
    begins = [window.begin for window in windows]
    suggested = []
    for incident in seen.incidents:
        window = windows[bisect_right(begins, incident.begin_tsc) - 1]
        evidence = IncidentEvidence(
            seen.loops,
            window.away,
            seen.counters,
            seen.coverage,
            seen.load,
            seen.tsc_hz,
            window.facts,
        )
        suggested.append((incident, _EXPLAIN[incident.kind](incident, evidence)))
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


def _of_process(cause: Cause, seen: Observations) -> Cause:
    """With what is known of its process by its id."""
    if cause.pid is None:
        return cause
    name = cause.name
    if cause.kind == "task" and cause.pid in seen.noise_tasks:
        name = noise_name(name, seen.noise_tasks[cause.pid])
    elif cause.kind == "task" and cause.pid in seen.own_pids and not is_own(name):
        name = own_name(name)
    return replace(cause, cgroup=cause.cgroup or seen.cgroups.get(cause.pid), name=name)
