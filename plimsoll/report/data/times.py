"""Latencies and other short times in the cells of the page's tables."""

from __future__ import annotations

from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.text.units import format_ns

LATENCY_COLUMNS = ("min", "mean", "p50", "p99", "p99.9", "p99.99", "max")
LATENESS_COLUMNS = ("p50", "p99.9", "max")
GAP_COLUMNS = ("p50", "p99", "p99.9", "max")


def nanoseconds(value: float | None) -> str:
    """A time for people; a dash where there is none."""
    return "-" if value is None else format_ns(value)


def cells(times: LatencyRecord, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns' cells: min, mean, max and quantiles, by the names above."""
    values = {
        "min": times.min_ns,
        "mean": times.mean_ns,
        "p50": times.p50_ns,
        "p99": times.p99_ns,
        "p99.9": times.p99_9_ns,
        "p99.99": times.p99_99_ns,
        "max": times.max_ns,
    }
    return tuple(nanoseconds(values[column]) for column in columns)
