"""What the kernel and the loops themselves saw in the windows around incidents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll.attribution.absences.absence import Absence, absences
from plimsoll.attribution.events.coverage import TraceCoverage
from plimsoll.attribution.events.standstill import (
    Standstill,
    is_steal_measured,
    standstills,
    ticks_on,
)
from plimsoll.attribution.events.trace_reading import CpuFact, TraceReading
from plimsoll.attribution.explanation.evidence import absences_by_stalls
from plimsoll.attribution.explanation.observations import Observations
from plimsoll.attribution.explanation.unseen_stalls import with_unseen_stalls
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import Spans, union
from plimsoll.attribution.incidents.windows import IncidentWindow, trace_windows


@dataclass(frozen=True, slots=True)
class SeenWindow:
    """One window, `begin` to `end` in TSC ticks: the absences of loops by CPU, and other facts.

    `stalls` are those that the tester's loops measured in it, of each loop one at a time, `still`
    the times in which a loop's CPU stood still and `beats` the scheduler's ticks, by CPU. Of those
    in `steal_measured` all that was stolen of the loop's time is known.
    """

    begin: int
    end: int
    away: Mapping[int, Sequence[Absence]]
    facts: Sequence[CpuFact]
    stalls: Sequence[Incident] = ()
    still: Mapping[int, Sequence[Standstill]] = field(default_factory=dict)
    beats: Mapping[int, Sequence[int]] = field(default_factory=dict)
    steal_measured: frozenset[int] = frozenset()


def seen_windows(seen: Observations) -> Iterator[SeenWindow]:
    """The windows of all incidents, in order."""
    throttled = union((m.begin_tsc, m.end_tsc) for m in seen.counters if m.kind == "throttling")
    listed = (incident for incident in seen.incidents if incident.kind == "stall")
    stalls = _apart((*listed, *seen.stalls))
    times = [event.tsc for event in seen.events]
    for window in trace_windows(seen.incidents, seen.tsc_hz):
        reading = TraceReading(*window, seen.loops)
        events = seen.events[bisect_left(times, window[0]) : bisect_right(times, window[1])]
        reading.read(events)
        measured = _within(stalls, window)
        away = _absences(
            reading,
            seen.loops,
            seen.coverage,
            measured,
            throttled=throttled,
            tsc_hz=seen.tsc_hz,
        )
        still = {
            loop.cpu: tuple(
                each
                for each in standstills(reading, events, loop, seen.tsc_hz, seen.ticks)
                if each.begin >= seen.coverage.complete.get(loop.cpu, (each.begin + 1, 0))[0]
            )
            for loop in seen.loops
            if loop.cpu in away
        }
        beats = {cpu: ticks_on(events, cpu) for cpu in still}
        measured_cpus = frozenset(
            loop.cpu for loop in seen.loops if is_steal_measured(events, loop, seen.ticks)
        )
        yield SeenWindow(*window, away, reading.facts, measured, still, beats, measured_cpus)


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


def _absences(
    reading: TraceReading,
    loops: Sequence[PollingLoop],
    lost: TraceCoverage,
    stalls: Sequence[Incident],
    *,
    throttled: Spans,
    tsc_hz: float,
) -> dict[int, tuple[Absence, ...]]:
    """By the kernel's trace; of the tester's loops without one, by their own stalls."""
    away: dict[int, tuple[Absence, ...]] = {}
    for loop in loops:
        begin, end = lost.complete.get(loop.cpu, (1, 0))
        if begin <= end and begin < reading.end and end > reading.begin:
            seen = _since(absences(reading, loop, tsc_hz, throttled), begin)
            away[loop.cpu] = with_unseen_stalls(loop, seen, stalls)
        elif loop.owner == "tester":
            away[loop.cpu] = absences_by_stalls(loop, stalls)
    return away


def _since(found: tuple[Absence, ...], begin: int) -> tuple[Absence, ...]:
    """Without those that began where events were lost: who had the CPU there is not known."""
    return tuple(absence for absence in found if absence.begin >= begin)
