"""Lists of worst latencies and loss events put together, as long as a trial's at most."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest

from plimsoll.generator.interface import LossesLeftOut, LossEvent, RefusalEvent, WorstLatency

# As many as a trial's report lists of each stream (docs/engine-protocol.md).
MOST_LATENCIES = 256
MOST_LOSSES = 256
MOST_REFUSALS = 128


def longest(latencies: Iterable[WorstLatency]) -> tuple[WorstLatency, ...]:
    """The longest of them, longest first; of equal ones the earlier first."""
    return tuple(
        nlargest(
            MOST_LATENCIES,
            latencies,
            key=lambda worst: (worst.latency_ticks, -worst.received_tsc),
        )
    )


def largest(
    losses: Iterable[LossEvent], left_out: Iterable[LossesLeftOut]
) -> tuple[tuple[LossEvent, ...], LossesLeftOut]:
    """The largest of them, largest first, and what is left out now."""
    ordered = sorted(losses, key=lambda event: (-event.frames, event.seen_tsc))
    rest = ordered[MOST_LOSSES:]
    before = tuple(left_out)
    return tuple(ordered[:MOST_LOSSES]), LossesLeftOut(
        events=len(rest) + sum(each.events for each in before),
        frames=sum(event.lost for event in rest) + sum(each.frames for each in before),
    )


def largest_refusals(
    refusals: Iterable[RefusalEvent], left_out: Iterable[LossesLeftOut]
) -> tuple[tuple[RefusalEvent, ...], LossesLeftOut]:
    """The same of times at which a port had no room."""
    ordered = sorted(refusals, key=lambda event: (-event.frames, event.first_tsc))
    rest = ordered[MOST_REFUSALS:]
    before = tuple(left_out)
    return tuple(ordered[:MOST_REFUSALS]), LossesLeftOut(
        events=len(rest) + sum(each.events for each in before),
        frames=sum(event.frames for event in rest) + sum(each.frames for each in before),
    )
