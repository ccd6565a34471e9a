"""Spikes: the longest stalls and the worst latencies of every interval, each with its time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from plimsoll.generator.interface import Interval
from plimsoll.record.append_file import AppendFile
from plimsoll.record.closeable import Closeable
from plimsoll.record.run_directory import RunDirectory
from plimsoll.record.table_file import Table
from plimsoll.traffic.plan import StreamPlan

_NS_PER_MS = 1e6

SPIKES = Table(
    {
        "kind": "VARCHAR",
        "trial": "INTEGER",
        "begin_ms": "DOUBLE",
        "end_ms": "DOUBLE",
        "length_ns": "BIGINT",
        "cpu": "INTEGER",
        "tsc": "UBIGINT",
        "stream": "VARCHAR",
        "attribution": "VARCHAR",
    }
)


@dataclass(frozen=True, slots=True)
class Spike:
    """A stall of the tester, or the worst latency of a stream in one interval.

    `begin_ms` and `end_ms` (since the epoch) are the stall's own, or those of the
    interval in which the frame came back. `length_ns` is the stall or the latency, `tsc`
    the time stamp counter at the stall's end, by which a kernel trace can be searched.
    A latency is attributed to a "tester stall" when its frame was in flight during
    one long enough to matter (the engine's rule); "unattributed" is not the tester.
    """

    kind: Literal["stall", "latency"]
    trial: int
    begin_ms: float
    end_ms: float
    length_ns: int
    cpu: int | None
    tsc: int | None
    stream: str | None
    attribution: str


TESTER_STALL = "tester stall"
UNATTRIBUTED = "unattributed"


def interval_spikes(trial: int, plans: Sequence[StreamPlan], interval: Interval) -> Iterator[Spike]:
    """The stalls that the interval lists, and each stream's worst latencies in it."""
    end_ms = interval.end_unix_ns / _NS_PER_MS
    trial_begin_ms = end_ms - interval.end_s * 1e3
    for worker in interval.workers:
        for stall in worker.longest:
            stall_end_ms = trial_begin_ms + stall.at_s * 1e3
            begin_ms = stall_end_ms - stall.length_ns / _NS_PER_MS
            yield Spike(
                "stall",
                trial,
                begin_ms,
                stall_end_ms,
                stall.length_ns,
                worker.cpu,
                stall.tsc,
                None,
                TESTER_STALL,
            )
    yield from _worst_latencies(trial, plans, interval)


def _worst_latencies(
    trial: int, plans: Sequence[StreamPlan], interval: Interval
) -> Iterator[Spike]:
    names = {plan.stream: plan.name for plan in plans}
    end_ms = interval.end_unix_ns / _NS_PER_MS
    begin_ms = end_ms - (interval.end_s - interval.begin_s) * 1e3
    for counts in interval.streams:
        for worst_ns, attribution in (
            (counts.latency.max_ns, UNATTRIBUTED),
            (counts.latency_across_stalls.max_ns, TESTER_STALL),
        ):
            if worst_ns is not None:
                name = names[counts.stream]
                yield Spike(
                    "latency", trial, begin_ms, end_ms, worst_ns, None, None, name, attribution
                )


class SpikeLog(Closeable):
    """Appends spikes to JSON lines; `convert` moves them into spikes.parquet."""

    def __init__(self, run: RunDirectory) -> None:
        """Go on where an earlier writer of this run stopped. Raises RecordError."""
        self._growing = _growing(run)
        self._finished = run.spikes
        self._file = AppendFile(self._growing)

    def append(self, spikes: Iterator[Spike]) -> None:
        """Record the spikes of one interval."""
        self._file.append([json.dumps(asdict(spike), separators=(",", ":")) for spike in spikes])

    def convert(self) -> None:
        """Move all spikes so far into spikes.parquet and go on."""
        self._file.close()
        SPIKES.convert(self._growing, self._finished)
        self._file = AppendFile(self._growing)

    def close(self) -> None:
        """Close the file, and remove it when it holds nothing; safe to repeat."""
        self._file.close()
        if self._file.empty:
            self._growing.unlink(missing_ok=True)


def read_spikes(run: RunDirectory) -> list[Spike]:
    """All spikes of a run by time, also of the trial that is running. Raises RecordError."""
    finished = [run.spikes] if run.spikes.exists() else []
    growing = [_growing(run)] if _growing(run).exists() else []
    return [
        Spike(*row) for row in SPIKES.read(finished, growing, order_by="begin_ms, trial, kind, cpu")
    ]


def _growing(run: RunDirectory) -> Path:
    return run.spikes.with_suffix(".jsonl")
