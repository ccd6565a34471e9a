"""The two ends between which the DUT's latency lies, of every sample of a stream.

A stall of the tester may have made a sample longer than the DUT did. As measured it is at least
what the DUT took: its high end. Less the most that stalls can have delayed it, it is at most
that: its low end. Both are the same of a sample that no stall can have delayed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Self

from plimsoll.generator.histogram import Histogram, merge
from plimsoll.generator.interface import StreamCounts

# The rounds until less than this share of the samples moves in one, and the most there are. In
# each the rest shrinks at least to the share of samples that are not exact.
_SETTLED = 1e-9
_MAX_ROUNDS = 3000


@dataclass(frozen=True, slots=True)
class LatencyEnds:
    """All samples of a stream by their low ends, and by their high ends.

    Where a generator does not say how low a sample may have been, or cannot, its low end is 0.
    """

    low: Histogram
    high: Histogram

    @classmethod
    def of(cls, counts: StreamCounts) -> Self:
        """Those of a stream over an interval or a trial."""
        delayed = counts.latency_across_stalls
        if not delayed.count:
            return cls(counts.latency, counts.latency)
        low = merge((counts.latency, delayed_low(counts)))
        return cls(low, merge((counts.latency, delayed)))

    @property
    def samples(self) -> int:
        """How many there are, of those that stalls may have delayed, too."""
        return self.high.count


def delayed_low(counts: StreamCounts) -> Histogram:
    """The samples that stalls may have delayed, by their low ends."""
    known = counts.latency_less_stalls
    return merge((known, _zeros(counts.latency_across_stalls.count - known.count)))


def least_longest_ns(counts: StreamCounts) -> int | None:
    """The longest latency that is the DUT's for certain; None without samples."""
    known = (counts.latency.max_ns, counts.latency_less_stalls.max_ns)
    return max((each for each in known if each is not None), default=None)


def _zeros(count: int) -> Histogram:
    return Histogram(count, 0, 0, 0, ((0, count),)) if count > 0 else Histogram()


# The distribution of samples of which some are known only to lie between two ends.
#
# Turnbull's self-consistent estimate (1976): each sample known to an interval counts at the values
# in it as often as these are among all samples, which is found by going round until it is so. Mass
# can only lie where no interval of another sample says more: at a value of an exact sample, or
# between a low end and the high end next above it.
#
# That holds as far as which values an interval can hide does not depend on where in it the truth
# lies. Nothing here can tell whether that is so.
@dataclass(frozen=True, slots=True)
class Mass:
    """So many samples, of a fractional number, lie somewhere from `first` to `last`."""

    first: int
    last: int
    samples: float


def self_consistent(
    exact: Mapping[int, int], between: Mapping[tuple[int, int], int]
) -> tuple[Mass, ...] | None:
    """Where the samples lie, ascending; None where it does not settle.

    Values are whole numbers, such as those of buckets: `exact` has how many samples are of each,
    `between` how many are known to lie from one to another, both included.
    """
    places = _places(exact, between)
    firsts, lasts = [each[0] for each in places], [each[1] for each in places]
    reach = [
        (bisect_left(firsts, low), bisect_right(lasts, high), count)
        for (low, high), count in between.items()
    ]
    known = [float(exact.get(first, 0)) if first == last else 0.0 for first, last in places]
    # Places that the same intervals cover share what these bring in proportion to what is known.
    cuts = sorted({0, len(places), *(at for begin, end, _ in reach for at in (begin, end))})
    room_of = {at: number for number, at in enumerate(cuts)}
    rooms = list(pairwise(cuts))
    found = _settled(
        [sum(known[begin:end]) for begin, end in rooms],
        [(room_of[begin], room_of[end], count) for begin, end, count in reach],
    )
    if found is None:
        return None
    masses = (
        Mass(*places[at], samples)
        for (begin, end), total in zip(rooms, found, strict=True)
        for at, samples in zip(range(begin, end), _shared(known[begin:end], total), strict=True)
    )
    return tuple(each for each in masses if each.samples > 0)


def _places(exact: Iterable[int], between: Iterable[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """From each low end to the next high end, where no other low end lies between."""
    ends = {(value, side) for value in exact for side in (0, 1)}
    ends |= {(low, 0) for low, _ in between} | {(high, 1) for _, high in between}
    places: list[tuple[int, int]] = []
    begin: int | None = None
    for value, side in sorted(ends):
        if side == 0:
            begin = value
        elif begin is not None:
            places.append((begin, value))
            begin = None
    return places


def _settled(
    known: Sequence[float], reach: Sequence[tuple[int, int, int]]
) -> Sequence[float] | None:
    """The samples in each room, where those `known` stay and others are of rooms in a row."""
    total = sum(known) + sum(count for _, _, count in reach)
    held = _brought(known, [1.0] * len(known), reach)
    for _ in range(_MAX_ROUNDS):
        after = _brought(known, held, reach)
        moved = sum(abs(new - old) for new, old in zip(after, held, strict=True))
        held = after
        if moved <= _SETTLED * total:
            return held
    return None


def _brought(
    known: Sequence[float], held: Sequence[float], reach: Sequence[tuple[int, int, int]]
) -> list[float]:
    """One round: each sample counts in its rooms in proportion to what they hold."""
    below = [0.0, *accumulate(held)]
    steps = [0.0] * (len(held) + 1)
    for begin, end, count in reach:
        share = count / (below[end] - below[begin])
        steps[begin] += share
        steps[end] -= share
    weights = accumulate(steps[:-1])
    return [k + max(0.0, h * w) for k, h, w in zip(known, held, weights, strict=True)]


def _shared(known: Sequence[float], total: float) -> Sequence[float]:
    """What a room holds, by its places: where none is known, it has but one."""
    base = sum(known)
    return [total * each / base for each in known] if base else [total / len(known)] * len(known)
