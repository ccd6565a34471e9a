"""Absences placed where an incident has them, as far as clocks and standstills leave it open."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest

from plimsoll.attribution.absences.absence import Absence, Part, meeting
from plimsoll.attribution.absences.stopped import Taker
from plimsoll.attribution.events.standstill import Standstill
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import TickSpan, widened, window_of

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


def with_standstills(
    loops: Sequence[PollingLoop],
    away: Mapping[PollingLoop, Sequence[Absence]],
    still: Mapping[PollingLoop, Sequence[Standstill]],
    incident: Incident,
    tsc_hz: float,
    *,
    virtual: bool,
    clock_error: int = 0,
) -> dict[PollingLoop, Sequence[Absence]]:
    """The absences, by loop; near the incident, where its CPU stood still that is what took it.

    What had the CPU in the kernel's eyes did nothing while that stood still: a softirq that lasted
    10 ms so, or a task, is none of its time's cause. The loops are those of one host, whose times
    may be off by `clock_error`.
    """
    found = dict(away)
    begin, end = widened(window_of(incident, tsc_hz), clock_error)
    for loop in loops:
        near = [s for s in still.get(loop, ()) if s.begin <= end and begin <= s.end]
        if near and loop in away:
            around: list[Absence] = list(meeting(away[loop], begin, end))
            for each in near:
                part = Part(*_placed(each, around, incident), _taker(each, loop, virtual=virtual))
                around = _overlaid(around, Absence(loop, (part,)))
            found[loop] = tuple(around)
    return found


def _placed(still: Standstill, away: Sequence[Absence], incident: Incident) -> TickSpan:
    """Up to the incident's end. Of missing ticks it is known that the CPU ran when it last said.

    It stood still from then on where that was in the kernel, and where the incident shows it.
    """
    begin, end = still.placed(incident.end_tsc)
    if not still.missing:
        return begin, end
    within = [a for a in away if a.begin <= still.begin < a.end]
    since = still.begin if within else max(still.begin, incident.begin_tsc)
    return min(begin, since), still.end


def _taker(still: Standstill, loop: PollingLoop, *, virtual: bool) -> Taker:
    if not still.missing:
        return Taker("hypervisor-steal", f"steal of CPU {loop.cpu}")
    ticks = f"{still.missing} {'tick' if still.missing == 1 else 'ticks'} missing"
    return Taker("stood-still", f"the {'vCPU' if virtual else 'CPU'} stood still ({ticks})")


def _overlaid(away: Sequence[Absence], over: Absence) -> list[Absence]:
    """Without what the others have of its time, so that none is counted twice."""
    found = [over]
    for absence in away:
        before = tuple(_cut(absence.parts, absence.begin, min(absence.end, over.begin)))
        behind = tuple(_cut(absence.parts, max(absence.begin, over.end), absence.end))
        found += [Absence(absence.loop, parts) for parts in (before, behind) if parts]
    return sorted(found, key=lambda absence: absence.begin)


def _cut(parts: Sequence[Part], begin: int, end: int) -> Iterator[Part]:
    for part in parts:
        if max(part.begin, begin) < min(part.end, end):
            yield part.between(max(part.begin, begin), min(part.end, end))
