"""One trial's streams as tables: frames, and times."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group

from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.units import (
    format_ns,
    format_ns_between,
)
from plimsoll.trial.judging.dut_agreement import RETURNED_LENGTH_RULE

# Refused by a full queue; skipped and without buffer are the tester's own.
_COUNTS = (
    *("sent", "refused", "skipped", "no_buffer", "received", "lost"),
    *("timed_out", "out_of_order", "duplicate", "corrupt"),
)


_COUNT_HEADINGS = (
    *("sent", "refused", "skipped", "no buffer", "received", "lost"),
    *("timed out", "out of order", "duplicates", "corrupt"),
)


_LATENCIES = ("min_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns")


_LATENESS = ("p50_ns", "p99_9_ns", "max_ns")


_LATENCY_HEADINGS = (
    *("min", "p50", "p99", "p99.9", "max"),
    *("late p50", "late p99.9", "late max"),
)


def stream_tables(trial: TrialRecord) -> Group:
    """Frames, latencies and, of probes, lateness of every stream."""
    frames = _table("Frames", _COUNT_HEADINGS)
    latencies = _table("Latency, and how late probes left", _LATENCY_HEADINGS)
    for stream in trial.streams:
        frames.add_row(stream.name, *(f"{getattr(stream, name):,}" for name in _COUNTS))
        latencies.add_row(
            stream.name,
            *(_ends(stream, name) for name in _LATENCIES),
            *(_time(getattr(stream.lateness, name)) for name in _LATENESS),
        )
    stamps = [f"{each.name}: {each.stamps.sentence}" for each in trial.streams if each.stamps]
    lengths = [each.text for each in trial.findings if each.rule == RETURNED_LENGTH_RULE]
    return Group(frames, *lengths, "", latencies, *stamps)


def _table(title: str, headings: Sequence[str]) -> FigureTable:
    return FigureTable(
        title, (TableColumn("stream", "left"), *(TableColumn(each) for each in headings))
    )


def _ends(stream: StreamRecord, name: str) -> str:
    low, high = (getattr(each, name) for each in stream.latency_ends)
    return "-" if low is None or high is None else format_ns_between(low, high)


def _time(ns: int | None) -> str:
    return "-" if ns is None else format_ns(ns)
