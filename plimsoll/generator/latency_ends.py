"""The two ends between which the DUT's latency lies, of every sample of a stream.

A stall of the tester may have made a sample longer than the DUT did. As measured it is at least
what the DUT took: its high end. Less the most that stalls can have delayed it, it is at most
that: its low end. Both are the same of a sample that no stall can have delayed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from plimsoll.generator.histogram import Histogram, merge
from plimsoll.generator.interface import StreamCounts


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
