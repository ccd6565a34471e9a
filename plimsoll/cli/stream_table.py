"""One trial's streams as rows of a table."""

from __future__ import annotations

from rich.table import Table

from plimsoll.record.trial_record import TrialRecord
from plimsoll.traffic.units import format_ns

_COUNTS = ("sent", "refused", "received", "lost", "out_of_order", "duplicate", "corrupt")
_LATENCIES = ("min_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns")


def stream_table(trial: TrialRecord) -> Table:
    """Frames and latencies of every stream."""
    table = Table(title="Streams", title_justify="left", box=None, pad_edge=False)
    table.add_column("stream")
    for name in _COUNTS:
        table.add_column(name.replace("_", "-"), justify="right")
    for name in _LATENCIES:
        table.add_column(_heading(name), justify="right")
    for stream in trial.streams:
        counts = (f"{getattr(stream, name):,}" for name in _COUNTS)
        latencies = (_latency(getattr(stream.latency, name)) for name in _LATENCIES)
        table.add_row(stream.name, *counts, *latencies)
    return table


def _heading(name: str) -> str:
    return name.removesuffix("_ns").replace("_", ".")


def _latency(ns: int | None) -> str:
    return "-" if ns is None else format_ns(ns)
