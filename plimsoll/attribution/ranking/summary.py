"""The causes of several trials together: what a run's terminal and page show of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.attribution.incidents.cause import Explanation
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.ranking.rank import rank
from plimsoll.attribution.ranking.remedies import remedy_for
from plimsoll.record.causes.causes_record import (
    ExplainedIncident,
    RankedCause,
    Remedy,
    TrialCauses,
)

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

    `left_out` counts incidents that the trials' records have no room for, the smallest. Counts
    are of the whole trials; the ranking rests on `ranked_losses` events with `ranked_frames`
    lost frames, which are all where they are None. `at_least` are counts of earlier versions'
    records, which lack what was left out. `corrupt` and `misdirected` are lost frames that came
    back otherwise.
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
    ranked_losses: int | None = None
    ranked_frames: int | None = None
    at_least: bool = False
    corrupt: int = 0
    misdirected: int = 0
    truncated: int = 0


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
    known = [trial.totals for trial in trials if trial.totals is not None]
    without = [trial for trial in trials if trial.totals is None]
    listed_of = [each for trial in without for each in trial.incidents if each.kind == "loss"]
    return CausesSummary(
        rows=rank((explanation_of(each.incident) for each in located), above_ns),
        spikes=_longest(spikes),
        losses=tuple(sorted(losses, key=lambda each: -each.incident.frames)[:_WORST]),
        stalls=_longest(stalls),
        spike_count=len(spikes),
        loss_events=sum(each.loss_events for each in known) + len(listed_of),
        lost_frames=sum(each.lost_frames for each in known) + sum(e.frames for e in listed_of),
        stall_count=len(stalls),
        left_out=sum(trial.incidents_left_out for trial in trials),
        ranked_losses=len(losses),
        ranked_frames=sum(each.incident.frames for each in losses),
        at_least=any(trial.incidents_left_out for trial in without),
        corrupt=sum(each.corrupt for each in known),
        misdirected=sum(each.misdirected for each in known),
        truncated=sum(each.truncated for each in known),
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
    return Explanation(incident, recorded.causes)


def _longest(located: Iterable[LocatedIncident]) -> tuple[LocatedIncident, ...]:
    return tuple(sorted(located, key=lambda each: -each.incident.length_ns)[:_WORST])


def _remedy(recorded: ExplainedIncident) -> Remedy | None:
    first = next(iter(explanation_of(recorded).roots), None)
    if first is None:
        return None
    return remedy_for(first.kind, first.name, first.owner, own=first.own)
