"""Latencies and other short times in the cells of the page's tables."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.record.trials.latency_record import BoundedLatency, LatencyRecord, slowest_between
from plimsoll.text.units import format_ns, format_ns_between

LATENCY_COLUMNS = ("min", "mean", "p50", "p99", "p99.9", "p99.99", "max")
LATENESS_COLUMNS = ("p50", "p99.9", "max")
GAP_COLUMNS = ("p50", "p99", "p99.9", "max")


def nanoseconds(value: float | None) -> str:
    """A time for people; a dash where there is none."""
    return "-" if value is None else format_ns(value)


def cells(times: LatencyRecord, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns' cells: min, mean, max and quantiles, by the names above."""
    values = _values(times)
    return tuple(nanoseconds(values[column]) for column in columns)


def latency_cells(stream: BoundedLatency, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The same of a stream's latency, with both ends where stalls of the tester leave it open."""
    low, high = map(_values, stream.latency_ends)
    return tuple(nanoseconds_between(low[column], high[column]) for column in columns)


def slowest_cell(streams: Iterable[BoundedLatency], name: str) -> str:
    """A figure of the slowest stream, by its field's name: `p99_ns`; a dash without any."""
    found = slowest_between(streams, name)
    return "-" if found is None else format_ns_between(*found)


def nanoseconds_between(low: float | None, high: float | None) -> str:
    """A time that is known to lie between two, for people; a dash where there is none."""
    return "-" if low is None or high is None else format_ns_between(low, high)


def _values(times: LatencyRecord) -> dict[str, float | None]:
    return {
        "min": times.min_ns,
        "mean": times.mean_ns,
        "p50": times.p50_ns,
        "p99": times.p99_ns,
        "p99.9": times.p99_9_ns,
        "p99.99": times.p99_99_ns,
        "max": times.max_ns,
    }
