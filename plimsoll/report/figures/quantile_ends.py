"""Rows of a chart of quantiles: what the DUT took at least and at most, where these differ."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.report.figures.value_axis import LEAST_US

CHARTED_QUANTILES = ("p50", "p99", "p99.9", "max")


def quantile_ends(ends: tuple[LatencyRecord, LatencyRecord]) -> Iterator[dict[str, object]]:
    """`quantile`, and `low` and `latency`, its ends in µs on a logarithmic axis; known ones."""
    for quantile, low_ns, high_ns in zip(CHARTED_QUANTILES, *map(_times, ends), strict=True):
        if low_ns is not None and high_ns is not None:
            yield {
                "quantile": quantile,
                "low": max(low_ns / 1e3, LEAST_US),
                "latency": max(high_ns / 1e3, LEAST_US),
            }


def _times(latency: LatencyRecord) -> tuple[int | None, ...]:
    return latency.p50_ns, latency.p99_ns, latency.p99_9_ns, latency.max_ns
