"""One trial's streams as tables: frames, and latencies."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table

from plimsoll.record.trial_record import TrialRecord
from plimsoll.traffic.units import format_ns

_COUNTS = ("sent", "refused", "received", "lost", "out_of_order", "duplicate", "corrupt")
_COUNT_HEADINGS = ("sent", "refused", "received", "lost", "disorder", "double", "corrupt")
_LATENCIES = ("min_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns")
_LATENCY_HEADINGS = ("min", "p50", "p99", "p99.9", "max")


def stream_tables(trial: TrialRecord) -> Group:
    """Frames and latencies of every stream."""
    frames = _table("Frames", _COUNT_HEADINGS)
    latencies = _table("Latency", _LATENCY_HEADINGS)
    for stream in trial.streams:
        frames.add_row(stream.name, *(f"{getattr(stream, name):,}" for name in _COUNTS))
        latencies.add_row(
            stream.name, *(_latency(getattr(stream.latency, name)) for name in _LATENCIES)
        )
    return Group(frames, "", latencies)


def _table(title: str, headings: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("stream", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _latency(ns: int | None) -> str:
    return "-" if ns is None else format_ns(ns)
