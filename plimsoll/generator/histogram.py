"""Latency histograms: the engine's buckets as HdrHistogram objects.

The engine counts into the buckets of HdrHistogram(1, 2^37 - 1, 2 digits): 256
sub-buckets, of which the upper half is used from the second bucket on, so a value
is known to 1/128 = 0.78 %.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from hdrh.histogram import HdrHistogram

LOWEST_NS = 1
HIGHEST_NS = 2**37 - 1
SIGNIFICANT_DIGITS = 2
_HALF = 128
_LAST_US = 1000


@dataclass(frozen=True, slots=True)
class Histogram:
    """Exact count, sum, min and max in ns; `buckets` are (index, count), index ascending."""

    count: int = 0
    sum_ns: int = 0
    min_ns: int | None = None
    max_ns: int | None = None
    buckets: tuple[tuple[int, int], ...] = ()

    @property
    def mean_ns(self) -> float | None:
        """The exact mean, or None without samples."""
        return self.sum_ns / self.count if self.count else None

    def quantile_ns(self, quantile: float) -> int | None:
        """The smallest value that `quantile` (0 to 1) of the samples do not exceed.

        Stated as its bucket's highest value, but never beyond the exact maximum,
        so at most 0.78 % high and never low. None without samples.
        """
        values = self.quantiles_ns((quantile,))
        return values[0] if values else None

    def quantiles_ns(self, quantiles: Sequence[float]) -> tuple[int, ...]:
        """The same of several, in ascending order, in one look; empty without samples."""
        if not self.count or self.max_ns is None or self.min_ns is None:
            return ()
        ranks = iter([max(1, -int(-quantile * self.count // 1)) for quantile in quantiles])
        rank: float = next(ranks, math.inf)
        values: list[int] = []
        seen = 0
        for index, count in self.buckets:
            seen += count
            while seen >= rank:
                values.append(max(self.min_ns, min(self.max_ns, bucket_bounds_ns(index)[1])))
                rank = next(ranks, math.inf)
        values += [self.max_ns] * (len(quantiles) - len(values))
        return tuple(self.min_ns if q <= 0 else v for q, v in zip(quantiles, values, strict=True))

    def above(self, limit_ns: float) -> int:
        """The samples that certainly lie above it: whole buckets, and the maximum."""
        above = sum(n for index, n in self.buckets if bucket_bounds_ns(index)[0] > limit_ns)
        return max(above, int(self.max_ns is not None and self.max_ns > limit_ns))


def empty_hdr() -> HdrHistogram:
    """An object of the hdrhistogram package with the engine's buckets."""
    return HdrHistogram(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)


def fill_hdr(hdr: HdrHistogram, histogram: Histogram) -> None:
    """Make an `empty_hdr()`, or one whose counters are all zero again, this histogram.

    By the package's own index, as its decoder does it: recording value by value would take
    milliseconds of a CPU that a small machine shares with its polling loops.
    """
    counts = hdr.encoder.get_counts()
    for index, count in histogram.buckets:
        counts[index] = count
    hdr.set_internal_tacking_values(
        next((index for index, _ in histogram.buckets if index > 0), -1),
        histogram.buckets[-1][0] if histogram.buckets else -1,
        sum(map(itemgetter(1), histogram.buckets)),
    )


def recorded_buckets(hdr: HdrHistogram) -> Iterator[tuple[int, int, int]]:
    """(lowest ns, highest ns, count) of each bucket that counted anything, in ascending order.

    Of a histogram with the engine's buckets, which all are that a record holds. The package's
    own iterator visits every bucket: drawing a chart by it takes a hundred times as long.
    """
    for index, count in enumerate(hdr.encoder.get_counts()):
        if count:
            yield (*bucket_bounds_ns(index), count)


def bucket_of(value_ns: int) -> int:
    """The index of the bucket that counts the value."""
    if value_ns < 256:
        return value_ns
    shift: int = value_ns.bit_length() - 8
    return shift * 128 + (value_ns >> shift)


def bucket_bounds_ns(index: int) -> tuple[int, int]:
    """The lowest and highest value counted at `index` of the counts array."""
    if index < 2 * _HALF:
        return index, index
    shift = index // _HALF - 1
    lowest = (index % _HALF + _HALF) << shift
    return lowest, lowest + (1 << shift) - 1


def histogram_of(samples: Mapping[int, int]) -> Histogram:
    """Of samples in ns, with how many there are of each."""
    if not samples:
        return Histogram()
    buckets: Counter[int] = Counter()
    for value_ns, count in samples.items():
        buckets[bucket_of(value_ns)] += count
    return Histogram(
        count=buckets.total(),
        sum_ns=sum(value_ns * count for value_ns, count in samples.items()),
        min_ns=min(samples),
        max_ns=max(samples),
        buckets=tuple(sorted(buckets.items())),
    )


def microseconds_of(samples: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
    """The same as (whole microseconds, rounded down; how many), the last for all from 1000 on."""
    buckets: Counter[int] = Counter()
    for value_ns, count in samples.items():
        buckets[min(value_ns // 1000, _LAST_US)] += count
    return tuple(sorted(buckets.items()))


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """The histogram of all samples together; exact."""
    parts = [part for part in histograms if part.count]
    if not parts:
        return Histogram()
    if len(parts) == 1:
        return parts[0]
    counts: dict[int, int] = {}
    for part in parts:
        for index, count in part.buckets:
            counts[index] = counts.get(index, 0) + count
    return Histogram(
        count=sum(part.count for part in parts),
        sum_ns=sum(part.sum_ns for part in parts),
        min_ns=min(part.min_ns for part in parts if part.min_ns is not None),
        max_ns=max(part.max_ns for part in parts if part.max_ns is not None),
        buckets=tuple(sorted(counts.items())),
    )


# A histogram that others are added to, many times, without making it anew each time.
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
