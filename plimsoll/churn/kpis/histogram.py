"""Histograms as Prometheus has them: cumulative buckets, and quantiles as PromQL works them out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CumulativeHistogram:
    """How many observations were at most each upper bound; the last bound is infinite."""

    bounds: tuple[float, ...]
    counts: tuple[float, ...]

    @classmethod
    def of(cls, by_bound: Mapping[float, float]) -> CumulativeHistogram:
        """From upper bounds and cumulative counts, in any order."""
        bounds = tuple(sorted(by_bound))
        return cls(bounds, tuple(by_bound[bound] for bound in bounds))

    @property
    def count(self) -> float:
        """All observations."""
        return self.counts[-1] if self.counts else 0.0

    def since(self, before: CumulativeHistogram | None) -> CumulativeHistogram:
        """What was observed since `before`; all of it where the process began anew."""
        if before is None or before.bounds != self.bounds or before.count > self.count:
            return self
        counts = zip(self.counts, before.counts, strict=True)
        return CumulativeHistogram(self.bounds, tuple(max(0.0, now - then) for now, then in counts))

    def quantile(self, q: float) -> float | None:
        """PromQL's histogram_quantile(q, …); None where it is NaN: nothing was observed.

        Linear within a bucket; the highest finite bound where it falls into the last bucket.
        """
        if len(self.bounds) < 2 or not math.isinf(self.bounds[-1]) or self.count == 0:
            return None
        counts = _monotonic(self.counts)
        rank = q * counts[-1]
        place = next(n for n, count in enumerate(counts) if count >= rank)
        if place == len(self.bounds) - 1:
            return self.bounds[-2]
        if place == 0 and self.bounds[0] <= 0:
            return self.bounds[0]
        begin = self.bounds[place - 1] if place else 0.0
        below = counts[place - 1] if place else 0.0
        within = counts[place] - below
        if within == 0:
            return begin
        return begin + (self.bounds[place] - begin) * (rank - below) / within


def added(histograms: Iterable[CumulativeHistogram]) -> CumulativeHistogram | None:
    """The sum of histograms of the same bounds; None of none. Raises ValueError."""
    found = list(histograms)
    if not found:
        return None
    if any(each.bounds != found[0].bounds for each in found):
        raise ValueError("histograms of different buckets cannot be added up")
    columns = zip(*(each.counts for each in found), strict=True)
    return CumulativeHistogram(found[0].bounds, tuple(sum(column) for column in columns))


def sample_quantile(values: Sequence[float], q: float) -> float | None:
    """The nearest rank: the least value that at least a share `q` of all do not exceed.

    None without values.
    """
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def kube_burner_quantile(values: Sequence[float], percent: float) -> float | None:
    """As kube-burner has it, by the Go library montanaflynn/stats.

    Where the rank `percent` of the count is whole, the value at it; else the mean of the values
    around it; the least value where the rank is below the first.
    """
    if not values:
        return None
    ordered = sorted(values)
    rank = percent / 100 * len(ordered)
    below = int(rank)
    if rank == below:
        return ordered[below - 1]
    if rank > 1:
        return (ordered[below - 1] + ordered[below]) / 2
    return ordered[0]


def _monotonic(counts: Sequence[float]) -> list[float]:
    """Buckets that were not read at the same instant may fall; Prometheus, too, levels them."""
    found: list[float] = []
    for count in counts:
        found.append(max(count, found[-1]) if found else count)
    return found
