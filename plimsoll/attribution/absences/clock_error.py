"""Absences on a host whose clock is known to within an error, placed at an incident."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest

from plimsoll.attribution.absences.absence import Absence, meeting
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import TickSpan

# Of the absences near an incident, so many of the longest may decide where all of them lie.
_DECIDING = 16


def placed(
    away: Mapping[PollingLoop, Sequence[Absence]], span: TickSpan, error: int
) -> dict[PollingLoop, Sequence[Absence]]:
    """The absences of one host's loops, moved by what makes them cover most of `span`.

    All by the same time, in ticks and at most `error` either way, as they have one clock: none
    becomes longer or shorter, and the gaps between them stay. Where several such times are as
    good, it is the least.
    """
    near = {loop: meeting(found, span[0] - error, span[1] + error) for loop, found in away.items()}
    shifts = {0, *_shifts([each for found in near.values() for each in found], span, error)}

    def covered(shift: int) -> tuple[int, int]:
        begin, end = span[0] - shift, span[1] - shift
        return sum(_within(found, begin, end) for found in near.values()), -abs(shift)

    best = max(sorted(shifts), key=covered)
    return {loop: [_moved(each, best) for each in found] for loop, found in away.items()}


def _shifts(near: Sequence[Absence], span: TickSpan, error: int) -> Iterator[int]:
    """Where the covered time can be longest: an absence then begins or ends as the span does."""
    for each in nlargest(_DECIDING, near, key=lambda absence: absence.end - absence.begin):
        for shift in (span[0] - each.begin, span[1] - each.end):
            yield min(max(shift, -error), error)


def _within(found: Sequence[Absence], begin: int, end: int) -> int:
    """How long the absences were between `begin` and `end`."""
    return sum(
        max(0, min(each.end, end) - max(each.begin, begin)) for each in meeting(found, begin, end)
    )


def _moved(absence: Absence, shift: int) -> Absence:
    return Absence(absence.loop, tuple(part.moved(shift) for part in absence.parts))


def certainly_inside(times: Sequence[int], begin: int, end: int, error: int) -> int:
    """How many of the times, in order, lie between two others wherever within the error."""
    return max(0, bisect_right(times, end - error) - bisect_left(times, begin + error))
