"""One figure for each quantile of a latency that stalls of the tester leave open.

Of samples known to lie between two ends Turnbull's estimate says how many lie where
(self_consistent.py). It rests on stalls that hide long latencies as often as short ones, and
samples cannot show whether they do: where the DUT is held up when the tester is, they do not. So
the figure is given only where it would be the same, but for 1 %, if that failed for a share of
the samples: once with all of these at their low ends, and once at their high ends. Where it would
not, both ends stand alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.generator.histogram import Histogram, bucket_bounds_ns
from plimsoll.generator.interface import StreamCounts
from plimsoll.generator.latency_ends import Mass, self_consistent

_QUANTILES = {
    "p50_ns": 0.5,
    "p90_ns": 0.9,
    "p99_ns": 0.99,
    "p99_9_ns": 0.999,
    "p99_99_ns": 0.9999,
}
# Histogram buckets in one of `delayed_ends`.
_COARSE = 8
# Of the samples that stalls may have delayed, those that may lie at an end for all that is known.
# Of simulated trials whose stalls came with the DUT's holds some were given a figure that was off
# by 1.4 to 2.7 % with a tenth of them, and none one off by more than 1 % with a fifth.
_AT_AN_END = 0.25
# How far apart they may be, as a share.
_NEAR = 0.01


class LatencyEstimate(BaseModel):
    """Quantiles over all samples, in ns, at most 0.78 % high; null where both ends stand alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    p50_ns: int | None = Field(description="The median, in ns; null where both ends stand alone.")
    p90_ns: int | None = Field(description="The 90th percentile, in ns; null likewise.")
    p99_ns: int | None = Field(description="The 99th percentile, in ns; null likewise.")
    p99_9_ns: int | None = Field(description="The 99.9th percentile, in ns; null likewise.")
    p99_99_ns: int | None = Field(description="The 99.99th percentile, in ns; null likewise.")

    @classmethod
    def of(cls, counts: StreamCounts) -> Self | None:
        """None where no stall can have delayed any, or it is not known which ends go together."""
        ends = counts.delayed_ends
        if ends is None or ends.left_out:
            return None
        between: Counter[tuple[int, int]] = Counter()
        for low, high, frames in ends.frames:
            between[low * _COARSE, high * _COARSE + _COARSE - 1] += frames
        if not between or between.total() != counts.latency_across_stalls.count:
            return None
        return cls(**_quantiles(counts.latency, between))


def _quantiles(exact: Histogram, between: Mapping[tuple[int, int], int]) -> dict[str, int | None]:
    known = dict(exact.buckets)
    found = self_consistent(known, between)
    if found is None:
        return dict.fromkeys(_QUANTILES)
    at_low, at_high = (
        _sorted(
            (
                *_scaled(_exact(known), _AT_AN_END),
                *_scaled(found, 1 - _AT_AN_END),
                *(Mass(ends[end], ends[end], _AT_AN_END * n) for ends, n in between.items()),
            )
        )
        for end in (0, 1)
    )
    return {
        name: _near(*(_place(each, quantile) for each in (at_low, found, at_high)))
        for name, quantile in _QUANTILES.items()
    }


def _exact(known: Mapping[int, int]) -> Iterable[Mass]:
    return (Mass(index, index, count) for index, count in known.items())


def _scaled(masses: Iterable[Mass], share: float) -> Iterable[Mass]:
    return (Mass(each.first, each.last, share * each.samples) for each in masses)


def _sorted(masses: Iterable[Mass]) -> Sequence[Mass]:
    return sorted(masses, key=lambda each: (each.last, each.first))


def _place(masses: Sequence[Mass], quantile: float) -> Mass:
    """That in which the quantile lies."""
    rank = quantile * sum(each.samples for each in masses)
    seen = 0.0
    for each in masses:
        seen += each.samples
        # What rounding takes away is far less than a sample.
        if seen >= rank - 1e-6:
            return each
    return masses[-1]


def _near(low: Mass, estimate: Mass, high: Mass) -> int | None:
    """The estimate as its bucket's highest value, where no other is far from it."""
    least_ns = min(bucket_bounds_ns(each.first)[0] for each in (low, estimate, high))
    most_ns = max(bucket_bounds_ns(each.last)[0] for each in (low, estimate, high))
    return bucket_bounds_ns(estimate.last)[1] if most_ns <= (1 + _NEAR) * least_ns else None
