"""What took the DUT's polling loops away, by cause: each absence once, however many it delayed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest
from typing import Literal

from plimsoll.attribution.incidents.cause import Explanation
from plimsoll.attribution.ranking.rank import group_name
from plimsoll.record.causes.causes_record import Cause
from plimsoll.search.evidence.disturbance import FIRST_KEPT, LONGEST_KEPT, Disturbance, DutAbsence
from plimsoll.search.evidence.host_cpu import HostCpu

_NS_PER_S = 1e9
_MOST_CAUSES = 16

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
    ranked = nlargest(_MOST_CAUSES, merged.items(), key=lambda each: _total_ns(each[1]))
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
