"""The latency of the slowest of several streams: what it is at least and at most, or one figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from plimsoll.record.trials.latency_estimate import LatencyEstimate
from plimsoll.record.trials.latency_record import LatencyRecord


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
