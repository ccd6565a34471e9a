"""The streams of trials as a table: what each sent, lost and how long its frames took."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.analysis.column import Column
from plimsoll.analysis.plain_table import PlainTable
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord

_COLUMNS = (
    Column("trial", "integer"),
    Column("phase", "text"),
    Column("verdict", "text"),
    Column("load_pps", "number"),
    Column("stream", "text"),
    Column("role", "text"),
    Column("tx_port", "integer"),
    Column("rx_port", "integer"),
    Column("mean_frame_size", "number"),
    Column("planned_pps", "number"),
    Column("sent", "integer"),
    Column("received", "integer"),
    Column("lost", "integer"),
    Column("loss_ratio", "number"),
    Column("duplicate", "integer"),
    Column("out_of_order", "integer"),
    Column("corrupt", "integer"),
    Column("samples", "integer"),
    Column("min_ns", "integer"),
    Column("mean_ns", "number"),
    Column("p50_ns", "integer"),
    Column("p99_ns", "integer"),
    Column("p99_9_ns", "integer"),
    Column("p99_99_ns", "integer"),
    Column("max_ns", "integer"),
)


def stream_table(title: str, trials: Iterable[TrialRecord]) -> PlainTable:
    """A row for each stream of each trial; times are round trips, of `samples` frames."""
    rows = (_row(trial, stream) for trial in trials for stream in trial.streams)
    return PlainTable(title, _COLUMNS, rows)


def _row(trial: TrialRecord, stream: StreamRecord) -> tuple[object, ...]:
    latency = stream.latency
    return (
        trial.number,
        trial.phase,
        trial.verdict,
        trial.load_pps,
        stream.name,
        stream.role,
        stream.tx_port,
        stream.rx_port,
        stream.mean_frame_size,
        stream.planned_pps,
        stream.sent,
        stream.received,
        stream.lost,
        stream.loss_ratio,
        stream.duplicate,
        stream.out_of_order,
        stream.corrupt,
        latency.count,
        latency.min_ns,
        latency.mean_ns,
        latency.p50_ns,
        latency.p99_ns,
        latency.p99_9_ns,
        latency.p99_99_ns,
        latency.max_ns,
    )
