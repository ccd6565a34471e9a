"""The causes of several trials together: what a run's terminal and page show of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.attribution.incidents.cause import Cause, Explanation
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.ranking.rank import RankedCause, rank
from plimsoll.attribution.ranking.remedies import Remedy, remedy_for
from plimsoll.record.causes.causes_record import ExplainedIncident, TrialCauses

_WORST = 10


@dataclass(frozen=True, slots=True)
class LocatedIncident:
    """An incident with its trial, its place in the trial's list, and what helps against it."""

    trial: int
    place: int
    incident: ExplainedIncident
    remedy: Remedy | None


@dataclass(frozen=True, slots=True)
class CausesSummary:
    """Ranked causes, and the worst incidents of each kind: at most ten.

    `left_out` counts incidents that the trials' records have no room for, the smallest.
    """

    rows: tuple[RankedCause, ...]
    spikes: tuple[LocatedIncident, ...]
    losses: tuple[LocatedIncident, ...]
    stalls: tuple[LocatedIncident, ...]
    spike_count: int
    loss_events: int
    lost_frames: int
    stall_count: int
    left_out: int


def summarise(trials: Sequence[TrialCauses], above_ns: int) -> CausesSummary:
    """The causes of these trials; latencies from `above_ns` on are spikes."""
    located = [
        LocatedIncident(trial.trial, place, incident, _remedy(incident))
        for trial in trials
        for place, incident in enumerate(trial.incidents)
    ]
    spikes = [
        t for t in located if t.incident.kind == "latency" and t.incident.length_ns >= above_ns
    ]
    losses = [t for t in located if t.incident.kind == "loss"]
    stalls = [t for t in located if t.incident.kind == "stall"]
    return CausesSummary(
        rows=rank((explanation_of(each.incident) for each in located), above_ns),
        spikes=_longest(spikes),
        losses=tuple(sorted(losses, key=lambda each: -each.incident.frames)[:_WORST]),
        stalls=_longest(stalls),
        spike_count=len(spikes),
        loss_events=len(losses),
        lost_frames=sum(each.incident.frames for each in losses),
        stall_count=len(stalls),
        left_out=sum(trial.incidents_left_out for trial in trials),
    )


def explanation_of(recorded: ExplainedIncident) -> Explanation:
    """The explanation that was recorded."""
    incident = Incident(
        recorded.kind,
        recorded.subject,
        recorded.begin_tsc,
        recorded.end_tsc,
        recorded.frames,
        recorded.length_ns,
        recorded.refused,
    )
    return Explanation(incident, tuple(Cause(**cause.model_dump()) for cause in recorded.causes))


def _longest(located: Iterable[LocatedIncident]) -> tuple[LocatedIncident, ...]:
    return tuple(sorted(located, key=lambda each: -each.incident.length_ns)[:_WORST])


def _remedy(recorded: ExplainedIncident) -> Remedy | None:
    roots = explanation_of(recorded).roots
    return remedy_for(roots[0].kind, roots[0].name, roots[0].owner) if roots else None
