"""Stalls that the tester's loop measured itself and in which the kernel saw nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.attribution.explanation.absence import Absence, meeting
from plimsoll.attribution.explanation.evidence import absences_by_stalls
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop


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


def _gaps(begin: int, end: int, seen: Sequence[Absence]) -> Iterator[tuple[int, int]]:
    """What of the time is in none of the absences."""
    for absence in meeting(seen, begin, end):
        if absence.end > begin and absence.begin < end:
            if absence.begin > begin:
                yield begin, absence.begin
            begin = absence.end
    if begin < end:
        yield begin, end
