"""Latencies and other short times as columns and cells of tables."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.record.trials.latency_record import BoundedLatency, LatencyRecord, slowest_between
from plimsoll.report.figures.table import Cell, ReportColumn, ns, ns_between
from plimsoll.text.units import format_ns, format_ns_between

LATENCY_COLUMNS = ("min", "mean", "p50", "p99", "p99.9", "p99.99", "max")
LATENESS_COLUMNS = ("p50", "p99.9", "max")
GAP_COLUMNS = ("p50", "p99", "p99.9", "max")


def nanoseconds(value: float | None) -> str:
    """A time for people; a dash where there is none."""
    return "-" if value is None else format_ns(value)


def time_columns(names: tuple[str, ...], of: str = "") -> tuple[ReportColumn, ...]:
    """Columns of min, mean, max and quantiles, by the names above; `of` goes before them."""
    return tuple(ns(f"{_named(f'{of} {name}')}_ns", f"{of} {name}".strip()) for name in names)


def cells(times: LatencyRecord, columns: tuple[str, ...]) -> tuple[float | None, ...]:
    """What stands in them, in ns."""
    values = _values(times)
    return tuple(values[column] for column in columns)


def latency_columns(names: tuple[str, ...]) -> tuple[ReportColumn, ...]:
    """The same for latencies that stalls of the tester may leave open."""
    return tuple(ns_between(f"{_named(name)}_ns", name) for name in names)


def bounded_cells(stream: BoundedLatency, columns: tuple[str, ...]) -> tuple[Cell, ...]:
    """What stands in them of a stream: both ends in ns."""
    low, high = map(_values, stream.latency_ends)
    return tuple(Cell((low[column], high[column])) for column in columns)


def slowest_cell(streams: Iterable[BoundedLatency], name: str) -> Cell:
    """A figure of the slowest stream, by its field's name: `p99_ns`; both ends."""
    return Cell(slowest_between(streams, name) or (None, None))


def _named(words: str) -> str:
    return words.strip().lower().replace(".", "_").replace(" ", "_")


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
