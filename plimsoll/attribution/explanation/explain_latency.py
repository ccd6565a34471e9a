"""Why a frame was under way for so long: who did not poll while it waited.

A frame waits while a loop on its path is away, and after that for the queue that grew
in that time. With frames that arrive at a rate r and are served at m, a loop that was away for
W in all between A and the frame's arrival has the frame through at A + W + (r/m)(s - A),
where s is when the frame was sent. As r/m is at most 1 wherever a queue drains at all, such
a queue explains a latency of at most W.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.attribution.absences.absence import meeting
from plimsoll.attribution.explanation.evidence import IncidentEvidence
from plimsoll.attribution.explanation.explain_stall import EXACT_SHARE
from plimsoll.attribution.explanation.held import Held, causes_of, held, stall_link, ticks_within
from plimsoll.attribution.incidents.cause import Cause, Confidence
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.windows import window_of

# A tester's loop that was away for less of the time is not called the reason.
_LEAST_STALL_SHARE = 0.1


def explain_latency(incident: Incident, evidence: IncidentEvidence) -> tuple[Cause, ...]:
    """What held the loops of the path while the frame was under way, or just before."""
    loops = [loop for loop in evidence.loops if loop.handles(incident.subject)]
    while_under_way = [
        held(loop, evidence.away.get(loop, ()), incident.begin_tsc, incident.end_tsc)
        for loop in loops
    ]
    covered = covered_ticks(while_under_way) / max(1, incident.ticks)
    if covered >= EXACT_SHARE:
        exact = all(each.certain for each in while_under_way)
        return chain(while_under_way, "exact" if exact else "partial", incident, evidence)
    left_a_queue = [
        found for loop in loops if (found := _queue_left_by(loop, incident, evidence)) is not None
    ]
    if causes := chain(left_a_queue, "partial", incident, evidence):
        return causes
    causes = chain(while_under_way, "partial", incident, evidence)
    rest = round((1 - covered) * incident.ticks)
    return (*evidence.for_the_rest(loops, incident, rest), *causes)


def covered_ticks(found: Sequence[Held]) -> int:
    """For how long at least one of the loops was away."""
    spans = sorted(
        (max(part.begin, each.begin), min(part.end, each.end))
        for each in found
        for part in each.parts
    )
    total, reached = 0, 0
    for begin, end in spans:
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def chain(
    found: Sequence[Held], confidence: Confidence, incident: Incident, evidence: IncidentEvidence
) -> tuple[Cause, ...]:
    """The causes of several loops, the one that was away longest first.

    Where it is the tester's, the chain says so before it says what took its CPU.
    """
    causes: list[Cause] = []
    for each in sorted(found, key=lambda held_by: -held_by.ticks):
        own = causes_of(each, confidence, evidence.tsc_hz)
        stalled = each.ticks >= _LEAST_STALL_SHARE * max(1, incident.ticks)
        if each.loop.owner == "tester" and own and stalled:
            causes.append(stall_link(each, confidence, evidence.tsc_hz))
        causes += [cause for cause in own if cause.kind != "tester-stall"]
        unseen = sum(
            ticks_within(part, each.begin, each.end)
            for part in each.parts
            if part.taker.kind == "tester-stall"
        )
        if unseen > (1 - EXACT_SHARE) * each.ticks:
            causes += evidence.for_the_rest((each.loop,), incident, unseen)
    return tuple(causes)


def _queue_left_by(
    loop: PollingLoop, incident: Incident, evidence: IncidentEvidence
) -> Held | None:
    """The absences since the last one whose queue explains the latency; None if none does.

    Not from before the incident's own window: others around it may make more known of that.
    """
    since, _ = window_of(incident, evidence.tsc_hz)
    away = 0
    for absence in reversed(meeting(evidence.away.get(loop, ()), since, incident.end_tsc - 1)):
        if absence.begin < since:
            break
        if not all(part.certain for part in absence.parts):
            continue
        away += min(absence.end, incident.end_tsc) - absence.begin
        if away >= incident.ticks and absence.begin <= incident.begin_tsc:
            return held(loop, evidence.away[loop], absence.begin, incident.end_tsc)
    return None
