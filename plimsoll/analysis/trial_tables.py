"""What trials saw as tables: their streams, and their longest stalls and worst latencies."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.analysis.table import Column, PlainTable
from plimsoll.analysis.when import utc_of_ms
from plimsoll.record.causes.spikes import Spike
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord

_SPIKE_COLUMNS = (
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
    return PlainTable(title, _SPIKE_COLUMNS, rows)


_STREAM_COLUMNS = (
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
    return PlainTable(title, _STREAM_COLUMNS, rows)


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
