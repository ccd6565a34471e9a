"""What came of every flow in a trial: `flows/<trial>.parquet` of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from plimsoll.generator.interface import StreamCounts
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.table_file import TableSchema
from plimsoll.record.metrics.engine_samples import direction_name
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.samples.metric_type import MetricSample, MetricType
from plimsoll.record.trials.flow_summary import flow_records
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.traffic.plan import StreamPlan

FLOWS = TableSchema(
    {
        "stream": "VARCHAR",
        "flow": "INTEGER",
        "name": "VARCHAR",
        "sent": "UBIGINT",
        "received": "UBIGINT",
        "duplicate": "UBIGINT",
        "lost": "BIGINT",
        "latency_min_ns": "UBIGINT",
        "latency_mean_ns": "DOUBLE",
        "latency_max_ns": "UBIGINT",
    },
    sorted_by="stream, flow",
)
_LOST = MetricType("trafficgen", "flow-lost-frames", "count", "frames", "sum")


def write_flows(
    run: RunDirectory, trial: int, plans: Sequence[StreamPlan], counts: Iterable[StreamCounts]
) -> Path | None:
    """Write a trial's flows; None where no stream was counted by flow. Raises RecordError."""
    by_id = {plan.stream: plan for plan in plans}
    counted = [(by_id[each.stream], each.flows) for each in counts if each.flows is not None]
    if not counted:
        return None
    path = _path(run, trial)
    lines = path.with_suffix(".jsonl")
    try:
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        with lines.open("wb") as file:
            file.writelines(
                msgspec.json.encode({"stream": plan.name} | flow.model_dump()) + b"\n"
                for plan, flows in counted
                for flow in flow_records(plan, flows)
            )
    except OSError as error:
        raise write_failed(lines, error) from error
    FLOWS.convert(lines, path)
    return path


def _path(run: RunDirectory, trial: int) -> Path:
    return run.flows / f"{trial}.parquet"


# The flows that lost most in a trial, as metrics next to those of its intervals.
def flow_samples(record: TrialRecord) -> Iterator[MetricSample]:
    """Frames that each of the named flows lost; none of streams that are not counted by flow."""
    for stream in record.streams:
        for flow in stream.flows.worst if stream.flows else ():
            names = {
                "stream": stream.name,
                "direction": direction_name(stream.tx_port, stream.rx_port),
                "tx_port": str(stream.tx_port),
                "rx_port": str(stream.rx_port),
                "flow": str(flow.flow),
                "fields": flow.name,
            }
            yield MetricSample(_LOST, names, flow.lost)
