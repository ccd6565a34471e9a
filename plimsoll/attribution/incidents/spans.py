"""Sets of times, as begin and end in ticks: in order, and none touching the next."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

TickSpan = tuple[int, int]
Spans = tuple[TickSpan, ...]


def union(spans: Iterable[TickSpan]) -> Spans:
    """All of them; those that overlap or touch become one."""
    merged: list[TickSpan] = []
    for begin, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def common(sets: Iterable[Spans]) -> Spans:
    """The times that are in every set; none where there is no set."""
    each = list(sets)
    return reduce(_both, each) if each else ()


def within(spans: Spans, begin: int, end: int) -> Spans:
    """What of them lies between `begin` and `end`."""
    return _both(spans, ((begin, end),))


def ticks(spans: Spans) -> int:
    """How long they are together."""
    return sum(end - begin for begin, end in spans)


def _both(one: Spans, other: Spans) -> Spans:
    """In one pass over the two: away for microseconds at a time comes to thousands of spans."""
    found: list[TickSpan] = []
    first = second = 0
    while first < len(one) and second < len(other):
        begin = max(one[first][0], other[second][0])
        end = min(one[first][1], other[second][1])
        if begin < end:
            found.append((begin, end))
        if one[first][1] < other[second][1]:
            first += 1
        else:
            second += 1
    return tuple(found)
