"""Why a polling loop of the tester stood still."""

from __future__ import annotations

from plimsoll.attribution.explanation.evidence import IncidentEvidence
from plimsoll.attribution.explanation.held import causes_of, held
from plimsoll.attribution.incidents.incident import Incident, stall_subject
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.record.causes.causes_record import Cause

# Covered so far, an incident is explained exactly (issue: "exact overlap").
EXACT_SHARE = 0.8


def explain_stall(incident: Incident, evidence: IncidentEvidence) -> tuple[Cause, ...]:
    """What had the CPU of the loop that stood still, the longest first; then what is left."""
    loop = _loop_of(incident, evidence)
    if loop is None:
        return (*evidence.for_the_rest((), incident, incident.ticks),)
    if not evidence.traced(loop, incident):
        return (*evidence.for_the_rest((loop,), incident, incident.ticks),)
    found = held(loop, evidence.seen(loop, incident), incident.begin_tsc, incident.end_tsc)
    covered = found.ticks / max(1, incident.ticks)
    exact = covered >= EXACT_SHARE and found.certain
    causes = causes_of(found, "exact" if exact else "partial", evidence.tsc_hz)
    if covered < EXACT_SHARE:
        rest = evidence.for_the_rest((loop,), incident, incident.ticks - found.ticks)
        # What took most of it comes first.
        return (*rest, *causes) if covered < 1 - covered else (*causes, *rest)
    return tuple(causes)


def _loop_of(incident: Incident, evidence: IncidentEvidence) -> PollingLoop | None:
    testers = (loop for loop in evidence.loops if loop.owner == "tester")
    return next((loop for loop in testers if stall_subject(loop.cpu) == incident.subject), None)
