"""The quantiles of a latency histogram, as they stand in every record.

One figure for each quantile of a latency that stalls of the tester leave open. Of samples known to
lie between two ends Turnbull's estimate says how many lie where (latency_ends.py). It rests on
stalls that hide long latencies as often as short ones, and samples cannot show whether they do:
where the DUT is held up when the tester is, they do not. So the figure is given only where it
would be the same, but for 1 %, if that failed for a share of the samples: once with all of these
at their low ends, and once at their high ends. Where it would not, both ends stand alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, Self

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.generator.histogram import Histogram, bucket_bounds_ns
from plimsoll.generator.interface import StreamCounts
from plimsoll.generator.latency_ends import Mass, self_consistent
from plimsoll.record.files.record_model import RecordModel

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
    """Quantiles over all samples, in ns, at most 0.78 % too high.

    Null if only the lower and upper bound are known.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    p50_ns: int | None = Field(
        description="The median, in ns; null if only the lower and upper bound are known."
    )
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


class LatencyRecord(BaseModel):
    """Samples in ns. Count, min, mean and max are exact; quantiles are at most 0.78 % high."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    count: int = Field(ge=0, description="Samples: received frames that are in the figures.")
    min_ns: int | None = Field(
        description="Least latency, in ns, exact; null if there are no samples."
    )
    mean_ns: float | None = Field(
        description="Mean latency, in ns, exact; null if there are no samples."
    )
    max_ns: int | None = Field(
        description="Greatest latency, in ns, exact; null if there are no samples."
    )
    p50_ns: int | None = Field(
        description="Median latency, in ns, at most 0.78 % high; null if there are no samples."
    )
    p90_ns: int | None = Field(
        description="90th percentile, in ns, at most 0.78 % high; null if there are no samples."
    )
    p99_ns: int | None = Field(
        description="99th percentile, in ns, at most 0.78 % high; null if there are no samples."
    )
    p99_9_ns: int | None = Field(
        description="99.9th percentile, in ns, at most 0.78 % high; null if there are no samples."
    )
    p99_99_ns: int | None = Field(
        description="99.99th percentile, in ns, at most 0.78 % high; null if there are no samples."
    )

    @classmethod
    def of(cls, histogram: Histogram) -> Self:
        """The record of a histogram."""
        return cls(
            count=histogram.count,
            min_ns=histogram.min_ns,
            mean_ns=histogram.mean_ns,
            max_ns=histogram.max_ns,
            p50_ns=histogram.quantile_ns(0.5),
            p90_ns=histogram.quantile_ns(0.9),
            p99_ns=histogram.quantile_ns(0.99),
            p99_9_ns=histogram.quantile_ns(0.999),
            p99_99_ns=histogram.quantile_ns(0.9999),
        )


# The longest latency of a stream over all its samples, and whose it is.
class NamedLatency(Protocol):
    """A latency of a stream in its parts; the attribution layer's LatencyParts is one."""

    @property
    def stream(self) -> str:
        """The stream's name."""

    @property
    def latency_ns(self) -> int:
        """The latency."""


def longest_of(stream: str, listed: Iterable[NamedLatency]) -> NamedLatency | None:
    """The longest of the stream; None where none of it is listed."""
    own = (each for each in listed if each.stream == stream)
    return max(own, key=lambda each: each.latency_ns, default=None)


class LongestLatency(RecordModel):
    """The longest latency among all samples, those across a stall of the tester included.

    Its three parts add up to `latency_ns`. Where the kernel's events were not recorded, or the
    DUT polls on another host, what is not the tester's is undecided.
    """

    latency_ns: int = Field(ge=0, description="From sending to receiving, in ns.")
    across_stall: bool = Field(
        description="Whether a stall of the tester touched the sample, so that `latency` leaves "
        "it out."
    )
    tester_ns: int = Field(
        ge=0,
        description="Part of it, in ns, in which a polling loop of the tester was away, or one of "
        "Plimsoll's own processes had the DUT's CPU, and the DUT was not away otherwise.",
    )
    dut_ns: int = Field(
        ge=0,
        description="Part of it, in ns, in which the DUT's polling loops were away, as the "
        "kernel's events show, and the tester's were not.",
    )
    undecided_ns: int = Field(
        ge=0,
        description="The rest, in ns: both sides were away, or neither, as while a queue is "
        "worked off.",
    )

    @classmethod
    def of(cls, counts: StreamCounts, parts: NamedLatency | None) -> Self | None:
        """That of a stream; undecided as a whole without its `parts`, None without samples.

        `parts` have the attributes of this class.
        """
        if parts is not None:
            names = cls.model_fields
            return cls.model_validate({name: getattr(parts, name) for name in names})
        apart_ns = counts.latency_across_stalls.max_ns
        longest_ns = max(counts.latency.max_ns or 0, apart_ns or 0)
        if not counts.latency.count and not counts.latency_across_stalls.count:
            return None
        return cls(
            latency_ns=longest_ns,
            across_stall=apart_ns == longest_ns,
            tester_ns=0,
            dut_ns=0,
            undecided_ns=longest_ns,
        )


# The latency of the slowest of several streams: what it is at least and at most, or one figure.
class BoundedLatency(Protocol):
    """What has a latency that stalls of the tester may leave open, such as a stream's record."""

    @property
    def latency_ends(self) -> tuple[LatencyRecord, LatencyRecord]:
        """What the DUT's latency is at least and at most."""


def slowest_between(streams: Iterable[BoundedLatency], name: str) -> tuple[int, int] | None:
    """Both ends of the greatest, of a figure by its field's name: `p99_ns`; None without any."""
    found = [
        (low, high)
        for low, high in (
            (getattr(least, name), getattr(most, name))
            for least, most in (each.latency_ends for each in streams)
        )
        if low is not None and high is not None
    ]
    return (max(low for low, _ in found), max(high for _, high in found)) if found else None


class EstimatedLatency(BoundedLatency, Protocol):
    """One that may have an estimate between both."""

    @property
    def latency_estimate(self) -> LatencyEstimate | None:
        """Its quantiles are None where both ends stand alone."""


def slowest_figure(streams: Iterable[EstimatedLatency], name: str) -> float | None:
    """Where one figure must stand: the estimate, else the high end, as the DUT took no more.

    Of the stream in which it is the greatest; None without samples.
    """
    found = (_figure(each, name) for each in streams)
    return max((each for each in found if each is not None), default=None)


def _figure(stream: EstimatedLatency, name: str) -> float | None:
    estimate: float | None = getattr(stream.latency_estimate, name, None)
    high: float | None = getattr(stream.latency_ends[1], name)
    return high if estimate is None else estimate
