"""Causes by how much they cost: lost frames first, then spikes, then time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Literal

from plimsoll.attribution.incidents.incident import Explanation, weights
from plimsoll.attribution.ranking.remedies import remedy_for
from plimsoll.record.causes.causes_record import Cause, Confidence, RankedCause, Remedy
from plimsoll.search.evidence.trial_evidence import (
    FIRST_KEPT,
    LONGEST_KEPT,
    Disturbance,
    DutAbsence,
    HostCpu,
)

# Any of a CPU's workers may be given the work.
_KWORKER = re.compile(r"^kworker/(u?)[0-9:A-Z]+")
_LENGTH = re.compile(r" for [^ ]+ [^ ]+$| \(\d+ ticks? missing\)$")
_CONFIDENCES: tuple[Confidence, ...] = ("exact", "partial", "counter", "unexplained")


@dataclass(slots=True)
class _Sum:
    cause: Cause
    lost_frames: float = 0.0
    spikes: float = 0.0
    incidents: int = 0
    lengths: dict[object, int | None] = field(default_factory=dict)
    confidences: list[Confidence] = field(default_factory=list)


def group_name(cause: Cause) -> str:
    """The name under which occurrences are counted together: any worker's is "kworker".

    How long each lasted, which the names of some say, is left out.
    """
    if cause.kind in ("moved", "stood-still"):
        return _LENGTH.sub("", cause.name)
    return _KWORKER.sub(lambda found: f"kworker{'/u' if found[1] else ''}", cause.name)


def rank(explanations: Iterable[Explanation], above_ns: int = 0) -> tuple[RankedCause, ...]:
    """The causes, the costliest first. Latencies below `above_ns` are not spikes.

    The shares of all causes add up to at most 1.
    """
    sums: dict[tuple[object, ...], _Sum] = {}
    lost = spikes = 0
    for place, explanation in enumerate(explanations):
        incident = explanation.incident
        lost += incident.frames if incident.kind == "loss" else 0
        is_spike = incident.kind == "latency" and incident.length_ns >= above_ns
        spikes += is_spike
        if incident.kind == "latency" and not is_spike:
            continue
        for cause, weight in weights(explanation):
            key = (cause.kind, group_name(cause), cause.owner, cause.place, cause.own)
            found = sums.setdefault(key, _Sum(cause))
            found.incidents += 1
            found.lost_frames += weight * incident.frames if incident.kind == "loss" else 0.0
            found.spikes += weight if is_spike else 0.0
            _remember(found, cause, place)
    rows = [_row(found, lost, spikes) for found in sums.values()]
    return tuple(sorted(rows, key=_cost, reverse=True))


def remedies_of(rows: Iterable[RankedCause]) -> dict[Remedy, list[str]]:
    """What helps against these causes, in their order, with their names."""
    helps: dict[Remedy, list[str]] = {}
    for row in rows:
        if row.remedy is not None and row.name not in helps.setdefault(row.remedy, []):
            helps[row.remedy].append(row.name)
    return helps


def _remember(found: _Sum, cause: Cause, place: int) -> None:
    # One visit delays many frames: it is one occurrence, of the greatest length seen.
    visit: object = ("incident", place) if cause.begin_tsc is None else cause.begin_tsc
    before, length = found.lengths.get(visit), cause.length_ns
    found.lengths[visit] = length if before is None else max(before, length or 0)
    found.confidences.append(cause.confidence)


def _row(found: _Sum, lost: int, spikes: int) -> RankedCause:
    cause, name = found.cause, group_name(found.cause)
    known = [length for length in found.lengths.values() if length is not None]
    return RankedCause(
        kind=cause.kind,
        name=name,
        owner=cause.owner,
        cpu=cause.cpu,
        own=cause.own,
        occurrences=len(found.lengths),
        incidents=found.incidents,
        loss_share=min(1.0, found.lost_frames / lost) if lost else None,
        spike_share=min(1.0, found.spikes / spikes) if spikes else None,
        total_ns=sum(known) if known else None,
        worst_ns=max(known, default=None),
        confidence=max(_CONFIDENCES, key=lambda c: (found.confidences.count(c), _weakness(c))),
        remedy=remedy_for(cause.kind, name, cause.owner, own=cause.own),
        host=cause.host,
    )


def _weakness(confidence: Confidence) -> int:
    return _CONFIDENCES.index(confidence)


def _cost(row: RankedCause) -> tuple[float, float, int, int]:
    return (row.loss_share or 0.0, row.spike_share or 0.0, row.total_ns or 0, row.incidents)


_NS_PER_S = 1e9
_MAX_CAUSES = 16

_Key = tuple[str, str, HostCpu]


@dataclass(frozen=True, slots=True)
class _Absence:
    """Times are ticks of the time stamp counter."""

    begin: int
    length_ns: int
    confidence: Literal["exact", "partial"]


def dut_disturbances(
    explanations: Iterable[Explanation], first_frame_tsc: int, tsc_hz: float
) -> tuple[Disturbance, ...]:
    """The causes that are known to have taken CPUs of the DUT, those that took most first.

    Only what the kernel saw counts, exactly or in part: of what a counter alone says neither
    begin nor length is known.
    """
    seen: dict[_Key, list[_Absence]] = {}
    for cause in _of_dut(explanations):
        if (absence := _absence(cause)) is not None:
            seen.setdefault((cause.kind, group_name(cause), cause.place), []).append(absence)
    merged = {key: _merged(found, tsc_hz) for key, found in seen.items()}
    ranked = nlargest(_MAX_CAUSES, merged.items(), key=lambda each: _total_ns(each[1]))
    return tuple(
        Disturbance(
            kind=kind,
            name=name,
            cpu=place.cpu,
            host=place.host,
            count=len(absences),
            absences=tuple(
                DutAbsence(
                    at_s=round((each.begin - first_frame_tsc) / tsc_hz, 6),
                    length_ns=each.length_ns,
                    confidence=each.confidence,
                )
                for each in _kept(absences)
            ),
        )
        for (kind, name, place), absences in ranked
    )


def _of_dut(explanations: Iterable[Explanation]) -> Iterator[Cause]:
    for explanation in explanations:
        yield from (cause for cause in explanation.causes if cause.owner == "dut")


def _absence(cause: Cause) -> _Absence | None:
    """None where it is not known when or for how long."""
    if cause.begin_tsc is None or cause.length_ns is None:
        return None
    if cause.confidence not in ("exact", "partial"):
        return None
    return _Absence(cause.begin_tsc, cause.length_ns, cause.confidence)


def _merged(found: Iterable[_Absence], tsc_hz: float) -> list[_Absence]:
    """Those of one cause by time; what overlaps is one absence that delayed several frames.

    A frame that came in the middle of it saw only the rest: the longest is right.
    """
    merged: list[_Absence] = []
    for each in sorted(found, key=lambda absence: absence.begin):
        last = merged[-1] if merged else None
        if last is None or each.begin > last.begin + last.length_ns * tsc_hz / _NS_PER_S:
            merged.append(each)
        elif each.length_ns > last.length_ns:
            merged[-1] = _Absence(last.begin, each.length_ns, each.confidence)
        elif each.length_ns == last.length_ns and each.confidence == "exact":
            merged[-1] = _Absence(last.begin, last.length_ns, "exact")
    return merged


def _total_ns(absences: Iterable[_Absence]) -> int:
    return sum(each.length_ns for each in absences)


def _kept(absences: list[_Absence]) -> list[_Absence]:
    """The first ones follow each other without one left out, so that a period shows."""
    first, rest = absences[:FIRST_KEPT], absences[FIRST_KEPT:]
    longest = nlargest(LONGEST_KEPT, rest, key=lambda each: each.length_ns)
    return [*first, *sorted(longest, key=lambda each: each.begin)]
