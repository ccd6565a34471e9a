"""Counts that add up, found by their fields: a new counter is named where it is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cache
from heapq import nlargest
from operator import add
from typing import Any, TypeVar, get_type_hints

from plimsoll.generator.histogram import Histogram, merge
from plimsoll.generator.interface import (
    METRIC,
    LossesLeftOut,
    LossEvent,
    RefusalEvent,
    WorstLatency,
)

T = TypeVar("T")


def fields_of(counts: object, of: type) -> tuple[str, ...]:
    """The fields of `counts`, a dataclass, whose type is `of`, in the order of declaration."""
    kind: type = type(counts)
    return tuple(name for name, hint in _hints(kind).items() if hint is of)


def frame_metrics(counts: object) -> tuple[tuple[str, str], ...]:
    """(counter, metric) of each counter of `counts`, a dataclass, that is a metric as well."""
    kind: type = type(counts)
    return _frame_metrics(kind)


def added(one: T, other: T, apart: frozenset[str]) -> dict[str, Any]:
    """By field what two of the same kind count together: sums, and merged histograms.

    The fields `apart` are the caller's to put together. Raises TypeError for another that is
    neither a counter nor a histogram: nothing is dropped silently.
    """
    kind: type = type(one)
    return {
        name: put_together(getattr(one, name), getattr(other, name))
        for name, put_together in _addends(kind, apart)
    }


# Of each kind once: intervals come while loops poll, perhaps on this very CPU.
@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


@cache
def _frame_metrics(kind: type) -> tuple[tuple[str, str], ...]:
    return tuple(
        (each.name, each.metadata[METRIC]) for each in fields(kind) if METRIC in each.metadata
    )


@cache
def _addends(
    kind: type, apart: frozenset[str]
) -> tuple[tuple[str, Callable[[Any, Any], Any]], ...]:
    hints = {name: hint for name, hint in _hints(kind).items() if name not in apart}
    for name, hint in hints.items():
        if hint not in _TOGETHER:
            raise TypeError(f"{kind.__name__}.{name} is neither a counter nor a histogram")
    return tuple((name, _TOGETHER[hint]) for name, hint in hints.items())


def _merged(one: Histogram, other: Histogram) -> Histogram:
    return merge([one, other])


_TOGETHER: dict[type, Callable[[Any, Any], Any]] = {int: add, Histogram: _merged}


# As many as a trial's report lists of each stream (docs/engine-protocol.md).
MAX_LATENCIES = 256
MAX_LOSSES = 256
MAX_REFUSALS = 128


def longest(latencies: Iterable[WorstLatency]) -> tuple[WorstLatency, ...]:
    """The longest of them, longest first; of equal ones the earlier first."""
    return tuple(
        nlargest(
            MAX_LATENCIES,
            latencies,
            key=lambda worst: (worst.latency_ticks, -worst.received_tsc),
        )
    )


def largest(
    losses: Iterable[LossEvent], left_out: Iterable[LossesLeftOut]
) -> tuple[tuple[LossEvent, ...], LossesLeftOut]:
    """The largest of them, largest first, and what is left out now."""
    ordered = sorted(losses, key=lambda event: (-event.frames, event.seen_tsc))
    rest = ordered[MAX_LOSSES:]
    before = tuple(left_out)
    return tuple(ordered[:MAX_LOSSES]), LossesLeftOut(
        events=len(rest) + sum(each.events for each in before),
        frames=sum(event.lost for event in rest) + sum(each.frames for each in before),
    )


def largest_refusals(
    refusals: Iterable[RefusalEvent], left_out: Iterable[LossesLeftOut]
) -> tuple[tuple[RefusalEvent, ...], LossesLeftOut]:
    """The same of times at which a port had no room."""
    ordered = sorted(refusals, key=lambda event: (-event.frames, event.first_tsc))
    rest = ordered[MAX_REFUSALS:]
    before = tuple(left_out)
    return tuple(ordered[:MAX_REFUSALS]), LossesLeftOut(
        events=len(rest) + sum(each.events for each in before),
        frames=sum(event.frames for event in rest) + sum(each.frames for each in before),
    )
