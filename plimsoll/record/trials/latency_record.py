"""The quantiles of a latency histogram, as they stand in every record."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, Self

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import StreamCounts
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.latency_estimate import LatencyEstimate


class LatencyRecord(BaseModel):
    """Samples in ns. Count, min, mean and max are exact; quantiles are at most 0.78 % high."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    count: int = Field(ge=0, description="Samples: received frames that are in the figures.")
    min_ns: int | None = Field(description="Least latency, in ns, exact; null without samples.")
    mean_ns: float | None = Field(description="Mean latency, in ns, exact; null without samples.")
    max_ns: int | None = Field(description="Greatest latency, in ns, exact; null without samples.")
    p50_ns: int | None = Field(
        description="Median latency, in ns, at most 0.78 % high; null without samples."
    )
    p90_ns: int | None = Field(
        description="90th percentile, in ns, at most 0.78 % high; null without samples."
    )
    p99_ns: int | None = Field(
        description="99th percentile, in ns, at most 0.78 % high; null without samples."
    )
    p99_9_ns: int | None = Field(
        description="99.9th percentile, in ns, at most 0.78 % high; null without samples."
    )
    p99_99_ns: int | None = Field(
        description="99.99th percentile, in ns, at most 0.78 % high; null without samples."
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
