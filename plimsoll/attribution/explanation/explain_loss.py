"""Why frames were lost: whose absence let a queue overflow."""

from __future__ import annotations

from plimsoll.attribution.absences.absence import meeting
from plimsoll.attribution.explanation.evidence import IncidentEvidence
from plimsoll.attribution.explanation.explain_latency import chain, covered_ticks
from plimsoll.attribution.explanation.explain_stall import EXACT_SHARE
from plimsoll.attribution.explanation.held import Held, held
from plimsoll.attribution.explanation.path_load import PathLoad
from plimsoll.attribution.incidents.cause import Cause
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop

# Where it is not known how long a queue takes to overflow: what the engine catches up at
# once after a stall (catch_up_us, 1000 by default) overflows a queue within that time.
_REACH_S = 0.001


def explain_loss(incident: Incident, evidence: IncidentEvidence) -> tuple[Cause, ...]:
    """What kept a loop of the path away while the lost frames were sent, or just before.

    Only a loop that was away for long enough to fill the queue, and for no more frames than came
    beyond that. Exact where the absences cover the time in which these were sent; partial where
    they cover less of it or ended just before: a queue that was full then may still overflow.
    """
    loops = [
        loop
        for loop in evidence.loops
        if loop.handles(incident.subject) and not (incident.refused and loop.owner == "tester")
    ]
    overflow_s = evidence.load.overflow_s(incident.subject)
    reach = round(reach_s(evidence.load, incident) * evidence.tsc_hz)
    away = [_away(loop, incident, evidence, reach) for loop in loops]
    found = [each for each in away if each.parts and _seconds(each, evidence) >= (overflow_s or 0)]
    covered = covered_ticks([_cut(each, incident) for each in found]) / max(1, incident.ticks)
    exact = covered >= EXACT_SHARE and all(each.certain for each in found)
    causes = chain(found, "exact" if exact else "partial", incident, evidence)
    if not causes:
        return tuple(evidence.for_the_rest(loops, incident, incident.ticks))
    return (*causes, *_beyond(found, incident, evidence))


def reach_s(load: PathLoad, incident: Incident) -> float:
    """How long before a loss an absence may have ended that is the reason for it."""
    overflow_s = load.overflow_s(incident.subject)
    return _REACH_S if overflow_s is None else overflow_s


def _beyond(found: list[Held], incident: Incident, evidence: IncidentEvidence) -> list[Cause]:
    """That more frames were lost than all of these absences can explain, and how many."""
    explained = [
        evidence.load.explained(incident.subject, _seconds(each, evidence)) for each in found
    ]
    if any(frames is None for frames in explained):
        return []
    beyond = incident.frames - sum(frames or 0.0 for frames in explained)
    return [evidence.more_lost(incident, beyond)] if beyond > 0 else []


def _away(loop: PollingLoop, incident: Incident, evidence: IncidentEvidence, reach: int) -> Held:
    """Absences that reach into the loss or end just before it, from their begin on."""
    begin, end = incident.begin_tsc - reach, _end(incident)
    away = meeting(evidence.away.get(loop, ()), begin + 1, end - 1)
    return held(loop, away, away[0].begin if away else begin, end)


def _cut(found: Held, incident: Incident) -> Held:
    parts = tuple(part for part in found.parts if part.end > incident.begin_tsc)
    return Held(found.loop, parts, incident.begin_tsc, _end(incident))


def _end(incident: Incident) -> int:
    # Frames of one burst have one stamp: a gap between them has no length of its own.
    return max(incident.end_tsc, incident.begin_tsc + 1)


def _seconds(found: Held, evidence: IncidentEvidence) -> float:
    return found.ticks / evidence.tsc_hz
