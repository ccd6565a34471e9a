"""What the kernels and the loops themselves saw in the windows around incidents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll.attribution.absences.absence import Absence, Part, absences, meeting
from plimsoll.attribution.events.standstill import (
    Standstill,
    is_steal_measured,
    standstills,
    ticks_on,
)
from plimsoll.attribution.events.trace_reading import CpuFact, TraceReading
from plimsoll.attribution.explanation.evidence import absences_by_stalls
from plimsoll.attribution.explanation.observations import HostObservations, Observations
from plimsoll.attribution.incidents.incident import Incident, stall_subject
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import IncidentWindow, trace_windows, union, widened
from plimsoll.observe.kernel_trace.trace_program import KernelEvent


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


@dataclass(frozen=True, slots=True)
class SeenWindow:
    """One window, `begin` to `end` in TSC ticks: the absences of loops, and `facts` by host.

    `stalls` are those that the tester's loops measured in it, of each loop one at a time, `still`
    the times in which a loop's CPU stood still and `beats` the scheduler's ticks there, by loop.
    Of the loops in `steal_measured` all that was stolen of their time is known.
    """

    begin: int
    end: int
    away: Mapping[PollingLoop, Sequence[Absence]]
    facts: Mapping[str | None, Sequence[CpuFact]]
    stalls: Sequence[Incident] = ()
    still: Mapping[PollingLoop, Sequence[Standstill]] = field(default_factory=dict)
    beats: Mapping[PollingLoop, Sequence[int]] = field(default_factory=dict)
    steal_measured: frozenset[PollingLoop] = frozenset()


def seen_windows(seen: Observations) -> Iterator[SeenWindow]:
    """The windows of all incidents, in order."""
    listed = (incident for incident in seen.incidents if incident.kind == "stall")
    stalls = _apart((*listed, *seen.stalls))
    readers = [_HostReader(host, seen.loops_on(host.host), seen.tsc_hz) for host in seen.hosts]
    for window in trace_windows(seen.incidents, seen.tsc_hz):
        measured = _within(stalls, window)
        found = SeenWindow(*window, away={}, facts={}, stalls=measured)
        for reader in readers:
            found = reader.added_to(found)
        yield found


class _HostReader:
    """Reads what one host's kernel saw of the loops there, window by window."""

    def __init__(self, seen: HostObservations, loops: Sequence[PollingLoop], tsc_hz: float) -> None:
        self._seen = seen
        self._loops = loops
        self._tsc_hz = tsc_hz
        self._times = [event.tsc for event in seen.events]
        self._throttled = union(
            (move.begin_tsc, move.end_tsc) for move in seen.counters if move.kind == "throttling"
        )

    def added_to(self, window: SeenWindow) -> SeenWindow:
        """The window with this host's loops."""
        if not self._loops:
            return window
        begin, end = widened((window.begin, window.end), self._seen.clock_error)
        events = self._seen.events[bisect_left(self._times, begin) : bisect_right(self._times, end)]
        reading = TraceReading(begin, end, self._loops)
        reading.read(events)
        away = self._absences(reading, window.stalls)
        still = {loop: self._still(reading, events, loop) for loop in self._loops if loop in away}
        measured = {
            loop for loop in self._loops if is_steal_measured(events, loop, self._seen.ticks)
        }
        return replace(
            window,
            away={**window.away, **away},
            facts={**window.facts, self._seen.host: reading.facts},
            still={**window.still, **still},
            beats={**window.beats, **{loop: ticks_on(events, loop.cpu) for loop in still}},
            steal_measured=window.steal_measured | measured,
        )

    def _still(
        self, reading: TraceReading, events: Sequence[KernelEvent], loop: PollingLoop
    ) -> tuple[Standstill, ...]:
        """Those since when the CPU's trace is complete."""
        complete = self._seen.coverage.complete.get(loop.cpu)
        if complete is None:
            return ()
        found = standstills(reading, events, loop, self._tsc_hz, self._seen.ticks)
        return tuple(each for each in found if each.begin >= complete[0])

    def _absences(
        self, reading: TraceReading, stalls: Sequence[Incident]
    ) -> dict[PollingLoop, tuple[Absence, ...]]:
        """By the kernel's trace; of the tester's loops without one, by their own stalls."""
        away: dict[PollingLoop, tuple[Absence, ...]] = {}
        for loop in self._loops:
            begin, end = self._seen.coverage.complete.get(loop.cpu, (1, 0))
            if begin <= end and begin < reading.end and end > reading.begin:
                found = absences(reading, loop, self._tsc_hz, self._throttled)
                away[loop] = with_unseen_stalls(loop, _since(found, begin), stalls)
            elif loop.owner == "tester":
                away[loop] = absences_by_stalls(loop, stalls)
        return away


def _apart(stalls: Iterable[Incident]) -> Mapping[str, Sequence[Incident]]:
    """By loop in order, those that overlap as one: it is away once at a time."""
    merged: dict[str, list[Incident]] = {}
    for stall in sorted(stalls, key=lambda each: each.begin_tsc):
        of_loop = merged.setdefault(stall.subject, [])
        if of_loop and stall.begin_tsc < of_loop[-1].end_tsc:
            last = of_loop[-1]
            of_loop[-1] = replace(last, end_tsc=max(last.end_tsc, stall.end_tsc))
        else:
            of_loop.append(stall)
    return merged


def _within(stalls: Mapping[str, Sequence[Incident]], window: IncidentWindow) -> list[Incident]:
    """Those that reach into the window: a trial of hours has tens of thousands of others."""
    begin, end = window
    return [
        stall
        for of_loop in stalls.values()
        for stall in of_loop[
            bisect_left(of_loop, begin, key=lambda each: each.end_tsc) : bisect_right(
                of_loop, end, key=lambda each: each.begin_tsc
            )
        ]
    ]


def _since(found: tuple[Absence, ...], begin: int) -> tuple[Absence, ...]:
    """Without those that began where events were lost: who had the CPU there is not known."""
    return tuple(absence for absence in found if absence.begin >= begin)
