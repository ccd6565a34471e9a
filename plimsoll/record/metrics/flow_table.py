"""What came of every flow in a trial: `flows/<trial>.parquet` of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from plimsoll.generator.interface import StreamCounts
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.table_file import TableSchema
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.flow_summary import flow_records
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
