"""How much of an incident the absences of a loop cover, and what they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.attribution.absences.absence import Absence, Part, meeting
from plimsoll.attribution.absences.stopped import Taker
from plimsoll.attribution.explanation.evidence import IncidentEvidence
from plimsoll.attribution.incidents.incident import Incident, stall_subject
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.record.causes.causes_record import Cause, Confidence

_NS_PER_S = 1e9
# What took less of an incident than this is not among its causes.
_MIN_SHARE = 0.01
MAX_CAUSES = 8


@dataclass(frozen=True, slots=True)
class Held:
    """Parts of a loop's absences, cut to a time: from `begin` to `end`."""

    loop: PollingLoop
    parts: tuple[Part, ...]
    begin: int
    end: int

    @property
    def ticks(self) -> int:
        """How long the loop was away in this time."""
        return sum(ticks_within(part, self.begin, self.end) for part in self.parts)

    @property
    def certain(self) -> bool:
        """Whether all ends are known."""
        return all(part.certain for part in self.parts)


def held(loop: PollingLoop, found: Sequence[Absence], begin: int, end: int) -> Held:
    """What of the absences, in order, lies between `begin` and `end`.

    A part whose end is not known counts only where it also began in that time.
    """
    parts = (part for absence in meeting(found, begin, end) for part in absence.parts)
    kept = (p for p in parts if ticks_within(p, begin, end) and (p.certain or p.begin >= begin))
    return Held(loop, tuple(kept), begin, end)


def ticks_within(part: Part, begin: int, end: int) -> int:
    """How much of a part lies between `begin` and `end`."""
    return max(0, min(part.end, end) - max(part.begin, begin))


def causes_of(found: Held, confidence: Confidence, tsc_hz: float) -> list[Cause]:
    """One cause for each taker, the longest first; what took under 1 % of the time is left out."""
    least = _MIN_SHARE * (found.end - found.begin)
    by_taker: dict[Taker, list[Part]] = {}
    for part in found.parts:
        by_taker.setdefault(part.taker, []).append(part)
    sized = [
        (sum(ticks_within(part, found.begin, found.end) for part in parts), taker, parts)
        for taker, parts in by_taker.items()
    ]
    kept = sorted((each for each in sized if each[0] >= least), key=lambda each: -each[0])
    return [
        _cause(found.loop, taker, parts, confidence, _ns(ticks, tsc_hz))
        for ticks, taker, parts in kept[:MAX_CAUSES]
    ]


def _cause(
    loop: PollingLoop,
    taker: Taker,
    parts: Sequence[Part],
    confidence: Confidence,
    length_ns: int,
) -> Cause:
    if taker.kind == "unexplained":
        confidence = "unexplained"
    elif not all(part.certain for part in parts):
        confidence = "partial"
    return Cause(
        kind=taker.kind,
        name=taker.name,
        owner=loop.owner,
        cpu=loop.cpu,
        pid=taker.pid,
        cgroup=None,
        woken_by=next((part.woken_by for part in parts if part.woken_by), None),
        begin_tsc=parts[0].begin - parts[0].moved_by,
        length_ns=length_ns,
        confidence=confidence,
        host=loop.host,
    )


def _ns(ticks: int, tsc_hz: float) -> int:
    return round(ticks / tsc_hz * _NS_PER_S)


def stall_link(found: Held, confidence: Confidence, tsc_hz: float) -> Cause:
    """The link of a chain that says: the tester's own loop was away."""
    taker = Taker("tester-stall", f"the tester's loop on CPU {found.loop.cpu} was away")
    return _cause(found.loop, taker, found.parts, confidence, _ns(found.ticks, tsc_hz))


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
