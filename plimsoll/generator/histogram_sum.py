"""A histogram that others are added to, many times, without making it anew each time."""

from __future__ import annotations

from collections import Counter

from plimsoll.generator.histogram import Histogram


class HistogramSum:
    """All samples of the histograms added so far; exact, and no larger for more of them."""

    def __init__(self) -> None:
        self._count = 0
        self._sum_ns = 0
        self._min_ns: int | None = None
        self._max_ns: int | None = None
        self._buckets: Counter[int] = Counter()

    def add(self, histogram: Histogram) -> None:
        """Add its samples."""
        if not histogram.count:
            return
        self._count += histogram.count
        self._sum_ns += histogram.sum_ns
        extremes = [self._min_ns, self._max_ns, histogram.min_ns, histogram.max_ns]
        known = [value for value in extremes if value is not None]
        self._min_ns, self._max_ns = min(known), max(known)
        for index, count in histogram.buckets:
            self._buckets[index] += count

    @property
    def total(self) -> Histogram:
        """The histogram of all samples together."""
        return Histogram(
            count=self._count,
            sum_ns=self._sum_ns,
            min_ns=self._min_ns,
            max_ns=self._max_ns,
            buckets=tuple(sorted(self._buckets.items())),
        )
