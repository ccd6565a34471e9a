"""The quantiles of latency that criteria speak of, and how many samples each needs."""

from __future__ import annotations

from typing import Literal

from plimsoll.generator.histogram import Histogram
from plimsoll.record.trials.latency_record import LatencyRecord

QuantileName = Literal["min", "p50", "p99", "p99.9", "p99.99", "max"]

QUANTILES: dict[QuantileName, float] = {
    "min": 0.0,
    "p50": 0.5,
    "p99": 0.99,
    "p99.9": 0.999,
    "p99.99": 0.9999,
    "max": 1.0,
}


def samples_needed(name: QuantileName) -> int:
    """So many that one lies beyond the quantile; minimum and maximum are of any number."""
    if name in ("min", "max"):
        return 1
    return round(1 / (1 - QUANTILES[name]))


def quantile_ns(histogram: Histogram, name: QuantileName) -> int | None:
    """The quantile; minimum and maximum are exact, the others at most a bucket too high.

    None without samples.
    """
    if name == "max":
        return histogram.max_ns
    return histogram.quantile_ns(QUANTILES[name])


def known_quantiles(latency: LatencyRecord) -> dict[QuantileName, int]:
    """The quantiles that there are samples enough for, in ns."""
    values: dict[QuantileName, int | None] = {
        "min": latency.min_ns,
        "p50": latency.p50_ns,
        "p99": latency.p99_ns,
        "p99.9": latency.p99_9_ns,
        "p99.99": latency.p99_99_ns,
        "max": latency.max_ns,
    }
    return {
        name: value
        for name, value in values.items()
        if value is not None and latency.count >= samples_needed(name)
    }
