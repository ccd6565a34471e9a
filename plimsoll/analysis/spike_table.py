"""Spikes as a table: the longest stalls of the tester and the worst latencies."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.analysis.column import Column
from plimsoll.analysis.plain_table import PlainTable
from plimsoll.analysis.when import utc_of_ms
from plimsoll.record.causes.spikes import Spike

_COLUMNS = (
    Column("kind", "text"),
    Column("trial", "integer"),
    Column("begin", "time"),
    Column("end", "time"),
    Column("length_ns", "integer"),
    Column("cpu", "integer"),
    Column("tsc", "integer"),
    Column("stream", "text"),
    Column("attribution", "text"),
    Column("cause", "text"),
    Column("confidence", "text"),
    Column("woken_by", "text"),
)


def spike_table(title: str, spikes: Iterable[Spike]) -> PlainTable:
    """A row for each; what the columns mean is said of `Spike`."""
    rows = (
        (
            spike.kind,
            spike.trial,
            utc_of_ms(spike.begin_ms),
            utc_of_ms(spike.end_ms),
            spike.length_ns,
            spike.cpu,
            spike.tsc,
            spike.stream,
            spike.attribution,
            spike.cause,
            spike.confidence,
            spike.woken_by,
        )
        for spike in spikes
    )
    return PlainTable(title, _COLUMNS, rows)
