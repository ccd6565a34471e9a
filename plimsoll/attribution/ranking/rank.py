"""Causes by how much they cost: lost frames first, then spikes, then time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from plimsoll.attribution.incidents.cause import Explanation
from plimsoll.attribution.incidents.weights import weights
from plimsoll.attribution.ranking.remedies import remedy_for
from plimsoll.record.causes.causes_record import Cause, Confidence, RankedCause, Remedy

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
