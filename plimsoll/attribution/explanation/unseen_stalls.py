"""Stalls that the tester's loop measured itself, against what the kernel saw of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.attribution.absences.absence import Absence, Part, meeting
from plimsoll.attribution.explanation.evidence import absences_by_stalls
from plimsoll.attribution.incidents.incident import Incident, stall_subject
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import union


def with_unseen_stalls(
    loop: PollingLoop, seen: Sequence[Absence], stalls: Sequence[Incident]
) -> tuple[Absence, ...]:
    """The absences that the kernel saw, and between them what else the loop measured."""
    if loop.owner != "tester":
        return tuple(seen)
    unseen = [
        Absence(loop, (part.between(begin, end),))
        for stall in absences_by_stalls(loop, stalls)
        for part in stall.parts
        for begin, end in _gaps(part.begin, part.end, seen)
    ]
    return tuple(sorted((*seen, *unseen), key=lambda absence: absence.begin))


def blameable(
    loop: PollingLoop, away: Sequence[Absence], stalls: Sequence[Incident]
) -> tuple[Absence, ...]:
    """The absences that may be why a frame was late or lost.

    The tester's own loop knows when it stalled: outside of that nothing can be due to it, however
    its CPU was taken. What it cannot know of the DUT's loops is left as it is.
    """
    if loop.owner != "tester":
        return tuple(away)
    subject = stall_subject(loop.cpu)
    measured = union((s.begin_tsc, s.end_tsc) for s in stalls if s.subject == subject)
    return tuple(
        Absence(loop, parts)
        for begin, end in measured
        for absence in meeting(away, begin, end)
        if (parts := tuple(_cut(absence.parts, begin, end)))
    )


def _cut(parts: Sequence[Part], begin: int, end: int) -> Iterator[Part]:
    for part in parts:
        if part.begin < end and begin < part.end:
            yield part.between(max(part.begin, begin), min(part.end, end))


def _gaps(begin: int, end: int, seen: Sequence[Absence]) -> Iterator[tuple[int, int]]:
    """What of the time is in none of the absences."""
    for absence in meeting(seen, begin, end):
        if absence.end > begin and absence.begin < end:
            if absence.begin > begin:
                yield begin, absence.begin
            begin = absence.end
    if begin < end:
        yield begin, end
