"""Why frames were lost: whose absence let a queue overflow."""

from __future__ import annotations

from plimsoll.attribution.cause import Cause
from plimsoll.attribution.evidence import Evidence
from plimsoll.attribution.explain_latency import chain, covered_ticks
from plimsoll.attribution.explain_stall import EXACT_SHARE
from plimsoll.attribution.held import Held, held
from plimsoll.attribution.incident import Incident
from plimsoll.attribution.loops import PollingLoop

# Where it is not known how long a queue takes to overflow: what the engine catches up at
# once after a stall (catch_up_us, 1000 by default) overflows a queue within that time.
_REACH_S = 0.001


def explain_loss(incident: Incident, evidence: Evidence) -> tuple[Cause, ...]:
    """What kept a loop of the path away while the lost frames were sent, or just before.

    Exact where the absences cover the time in which they were sent and lasted long enough
    to fill the queue; partial where they cover less of it, were too short, or ended just
    before: a queue that was full then may still overflow.
    """
    loops = [loop for loop in evidence.loops if loop.handles(incident.subject)]
    overflow_s = evidence.load.overflow_s
    reach = round((_REACH_S if overflow_s is None else overflow_s) * evidence.tsc_hz)
    found = [each for loop in loops if (each := _away(loop, incident, evidence, reach)).parts]
    # Frames of one burst have one stamp: a gap between them has no length of its own.
    inside = [_cut(each, incident) for each in found]
    covered = covered_ticks(inside) / max(1, incident.ticks)
    enough = any(_long_enough(each, evidence) for each in found)
    exact = covered >= EXACT_SHARE and enough and all(each.certain for each in found)
    if exact:
        return chain([each for each in inside if each.parts], "exact", incident, evidence)
    if found and (enough or overflow_s is None):
        return chain(found, "partial", incident, evidence)
    return tuple(evidence.for_the_rest(loops, incident, incident.ticks))


def _away(loop: PollingLoop, incident: Incident, evidence: Evidence, reach: int) -> Held:
    begin, end = incident.begin_tsc - reach, max(incident.end_tsc, incident.begin_tsc + 1)
    return held(loop, evidence.away.get(loop.cpu, ()), begin, end)


def _cut(found: Held, incident: Incident) -> Held:
    end = max(incident.end_tsc, incident.begin_tsc + 1)
    parts = tuple(p for p in found.parts if p.end > incident.begin_tsc and p.begin < end)
    return Held(found.loop, parts, incident.begin_tsc, end)


def _long_enough(found: Held, evidence: Evidence) -> bool:
    """Whether the queue can have filled meanwhile; where its size is not known it can."""
    if evidence.load.overflow_s is None:
        return True
    away = sum(part.end - part.begin for part in found.parts)
    return away / evidence.tsc_hz >= evidence.load.overflow_s
