"""Windows of kernel events as a trace for ui.perfetto.dev, in Chrome's JSON trace format.

The format is that of "Trace Event Format" (google/catapult, tracing/docs); docs/decisions says
why this one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.attribution.events.cpu_timeline import Slice
from plimsoll.attribution.events.trace_reading import TraceReading
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from plimsoll.record.causes.causes_record import ExplainedIncident, TrialCauses
from plimsoll.record.causes.kernel_events import KeptEvent
from plimsoll.search.evidence.trial_evidence import HostCpu

_US_PER_S = 1e6
_INCIDENTS, _FIRST_CPU = 1, 100
_TASKS, _INTERRUPTS, _EVENTS = 1, 2, 3
_OF_SLICES = ("sched_switch", "tlb_flush")
Entry = dict[str, Any]


def chrome_trace(trials: Sequence[TrialCauses], events: Mapping[int, Sequence[KeptEvent]]) -> str:
    """The trace as JSON text: incidents, and around them what each CPU did.

    `events` are those kept of each trial, by its number. Times are in microseconds since
    the first incident's begin.
    """
    begins = [each.begin_tsc for trial in trials for each in trial.incidents]
    origin = min(begins, default=0)
    entries: list[Entry] = [_name("process_name", _INCIDENTS, 0, "Incidents")]
    numbers = _numbers(events)
    for trial in trials:
        scale = _US_PER_S / trial.tsc_hz
        drawing = _Drawing(origin, scale, numbers)
        entries += _of_trial(trial, events.get(trial.trial, ()), drawing)
    entries.sort(key=lambda entry: (entry["ph"] != "M", entry.get("ts", 0.0)))
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": entries}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What all entries of a trial share: the first tick, µs in a tick, each CPU's number."""

    origin: int
    scale: float
    numbers: Mapping[HostCpu, int]

    def us(self, tsc: int) -> float:
        return (tsc - self.origin) * self.scale


def _numbers(events: Mapping[int, Sequence[KeptEvent]]) -> dict[HostCpu, int]:
    """The process that stands for each CPU; those of the tester's own host as they are numbered."""
    seen = {HostCpu(each.host, each.cpu) for kept in events.values() for each in kept}
    own = {place: _FIRST_CPU + (place.cpu or 0) for place in seen if place.host is None}
    others = sorted((place.host or "", place.cpu or 0) for place in seen - own.keys())
    first = max(own.values(), default=_FIRST_CPU) + 1
    return own | {HostCpu(*place): number for number, place in enumerate(others, first)}


def _of_trial(trial: TrialCauses, kept: Sequence[KeptEvent], drawing: _Drawing) -> Iterator[Entry]:
    loops = [PollingLoop(**loop.model_dump()) for loop in trial.loops]
    subjects = list(dict.fromkeys((each.kind, each.subject) for each in trial.incidents))
    for track, (kind, subject) in enumerate(subjects, 1):
        yield _name("thread_name", _INCIDENTS, track, f"{kind} {subject}")
    for incident in trial.incidents:
        track = subjects.index((incident.kind, incident.subject)) + 1
        yield _incident(trial.trial, incident, track, drawing)
    for host in dict.fromkeys(each.host for each in kept):
        there = [loop for loop in loops if loop.host == host]
        for window in _windows([each for each in kept if each.host == host]):
            yield from _cpus(window, there, host, drawing)


def _windows(kept: Sequence[KeptEvent]) -> Iterator[list[KernelEvent]]:
    """Events of incidents that overlap are one window: none is drawn twice."""
    by_incident: dict[int, list[KeptEvent]] = {}
    for event in kept:
        by_incident.setdefault(event.incident, []).append(event)
    spans = sorted(by_incident.values(), key=lambda events: events[0].tsc)
    window: dict[tuple[object, ...], KernelEvent] = {}
    end = -1
    for span in spans:
        if window and span[0].tsc > end:
            yield list(window.values())
            window = {}
        for each in span:
            key = (each.tsc, each.cpu, each.name, each.fields)
            window[key] = KernelEvent(each.tsc, each.cpu, each.name, each.read_fields())
        end = max(end, span[-1].tsc)
    if window:
        yield list(window.values())


def _cpus(
    window: Sequence[KernelEvent], loops: Sequence[PollingLoop], host: str | None, drawing: _Drawing
) -> Iterator[Entry]:
    """All of one host."""
    events = sorted(window, key=lambda event: event.tsc)
    reading = TraceReading(events[0].tsc, events[-1].tsc, loops)
    reading.read(events)
    owners = {loop.cpu: f" ({loop.owner}: {loop.process})" for loop in loops}
    for cpu in sorted({event.cpu for event in events}):
        place = HostCpu(host, cpu)
        process = drawing.numbers[place]
        yield _name("process_name", process, 0, f"{place}{owners.get(cpu, '')}")
        yield _name("thread_name", process, _TASKS, "task")
        yield _name("thread_name", process, _INTERRUPTS, "interrupt")
        yield _name("thread_name", process, _EVENTS, "event")
        for piece in reading.slices(cpu):
            yield _slice(piece, process, drawing)
    for event in events:
        if event.name not in _OF_SLICES:
            yield {
                "ph": "i",
                "s": "t",
                "name": event.name,
                "pid": drawing.numbers[HostCpu(host, event.cpu)],
                "tid": _EVENTS,
                "ts": drawing.us(event.tsc),
                "args": dict(event.fields),
            }


def _slice(piece: Slice, process: int, drawing: _Drawing) -> Entry:
    if piece.interruption is not None:
        name, thread = piece.interruption.full_name, _INTERRUPTS
    else:
        comm = piece.visit.comm or ("?" if piece.visit.pid else "idle")
        name, thread = f"{comm} [{piece.visit.pid}]", _TASKS
    return {
        "ph": "X",
        "name": name,
        "pid": process,
        "tid": thread,
        "ts": drawing.us(piece.begin),
        "dur": (piece.end - piece.begin) * drawing.scale,
    }


def _incident(trial: int, incident: ExplainedIncident, track: int, drawing: _Drawing) -> Entry:
    return {
        "ph": "X",
        "name": f"trial {trial}: {incident.kind} of {incident.subject}",
        "pid": _INCIDENTS,
        "tid": track,
        "ts": drawing.us(incident.begin_tsc),
        "dur": (incident.end_tsc - incident.begin_tsc) * drawing.scale,
        "args": {"explanation": incident.sentence, "frames": incident.frames},
    }


def _name(what: str, process: int, thread: int, name: str) -> Entry:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}
