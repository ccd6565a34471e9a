"""Times in which a DUT passed nothing on and only the counter of stolen time says why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.spans import Spans, TickSpan, union
from plimsoll.record.causes.causes_record import Cause
from plimsoll.search.evidence.trial_evidence import HostCpu

# A DUT that polls and has too much to do takes a burst out of its queue every few
# microseconds: of the frames sent in a millisecond it passes some on.
_SILENT_NS = 1_000_000
# Two bursts of 32, as DPDK's applications receive them: at 1000 frames a second, two frames
# lost one after the other say nothing.
_SILENT_FRAMES = 64

Suggested = tuple[Incident, tuple[Cause, ...]]


def is_silence(incident: Incident, cause: Cause) -> bool:
    """Whether no frame of a stream came through, for long, by the steal counter alone."""
    stolen = cause.kind == "hypervisor-steal" and cause.confidence == "counter"
    return stolen and is_silent(incident)


def is_silent(incident: Incident) -> bool:
    """Whether frames were lost for longer, one after the other, than an overloaded DUT loses."""
    long = incident.length_ns >= _SILENT_NS and incident.frames >= _SILENT_FRAMES
    return long and incident.kind == "loss"


def silences(suggested: Iterable[Suggested]) -> Mapping[HostCpu, Spans]:
    """By CPU, in ticks; streams that were lost at the same time count once."""
    found: dict[HostCpu, list[TickSpan]] = defaultdict(list)
    for incident, causes in suggested:
        for cause in causes:
            if cause.cpu is not None and is_silence(incident, cause):
                found[cause.place].append((incident.begin_tsc, incident.end_tsc))
    return {place: union(spans) for place, spans in found.items()}


def silent_ticks(silent: Spans, time: TickSpan) -> int:
    """How long the silences were that meet this time, in ticks."""
    first, last = time
    return sum(end - begin for begin, end in silent if begin <= last and first <= end)
