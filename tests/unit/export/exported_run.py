"""A small run with known metrics, for the tests of what is made of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from plimsoll.record.metrics.metrics import METRICS
from plimsoll.record.run.journal import JournalEvent, journal_line
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from tests.unit.record.trial_parts import BEGIN_NS, record

BEGIN_MS = BEGIN_NS // 10**6
STARTED_NS = 1_773_480_000_000_000_000

EXPERIMENT: dict[str, object] = {
    "name": "demo",
    "lab": {"kind": "testpmd-memif"},
    "profile": {
        "streams": [
            {"name": "load", "role": "load", "flows": 1024, "direction": "bidirectional"},
            {"name": "probe", "role": "latency", "rate": "1000pps"},
        ]
    },
    "criteria": [{"kind": "loss-ratio", "at_most": 2e-05}],
    "search": {"strategy": "binary", "duration": 5.0, "validation": {"duration": 60.0}},
}


@dataclass(frozen=True)
class Row:
    """A row of metrics; the time is in ms since the first trial began."""

    source: str
    type: str
    names: Mapping[str, str]
    begin_ms: int
    end_ms: int
    value: float
    count: int | None = None
    metric_class: str = "throughput"
    unit: str = "pps"
    aggregation: str = "sum"


def rx(port: int, begin_ms: int, end_ms: int, value: float) -> Row:
    """Frames received on a port."""
    names = {"port_pair": "0:1", "tx_port": str(1 - port), "rx_port": str(port)}
    return Row("trafficgen", "rx-pps", names, begin_ms, end_ms, value, count=round(value))


def idle(begin_ms: int, end_ms: int, value: float) -> Row:
    """An observer's series."""
    names = {"hostname": "dut", "cstype": "profiler", "num": "3", "type": "idle"}
    return Row(
        "mpstat",
        "NonBusy-CPU",
        names,
        begin_ms,
        end_ms,
        value,
        metric_class="count",
        unit="CPUs",
        aggregation="sum",
    )


def of_trial(rate_pps: float) -> list[Row]:
    """Two seconds of sending and half a second of drain, seen from both ports and the DUT."""
    return [
        *(rx(port, second, second + 1000, rate_pps) for port in (0, 1) for second in (0, 1000)),
        *(rx(port, 2000, 2500, 0.0) for port in (0, 1)),
        idle(0, 2500, 0.0),
    ]


def write_metrics(run: RunDirectory, part: str, rows: Sequence[Row], *, period: str) -> Path:
    """The rows as a Parquet file of the record."""
    run.metrics.mkdir(exist_ok=True)
    path = run.metrics / f"{part}.parquet"
    columns = ", ".join(f'"{name}" {kind}' for name, kind in METRICS.columns.items())
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE metrics ({columns})")
        for row in rows:
            connection.execute(
                "INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?, map_from_entries(?), ?, ?, ?, ?, ?)",
                [
                    period,
                    row.source,
                    row.type,
                    row.metric_class,
                    row.unit,
                    row.aggregation,
                    [{"k": name, "v": value} for name, value in row.names.items()],
                    BEGIN_MS + row.begin_ms,
                    BEGIN_MS + row.end_ms,
                    # The monotonic clock, which began elsewhere.
                    row.end_ms + 77,
                    row.count,
                    row.value,
                ],
            )
        connection.table("metrics").write_parquet(str(path))
    return path


def append_event(run: RunDirectory, kind: str, **fields: object) -> None:
    """One line of the journal."""
    with run.journal.open("a") as file:
        file.write(journal_line(JournalEvent(kind, STARTED_NS, fields)) + "\n")


def append_trial(run: RunDirectory, trial: TrialRecord) -> None:
    """A finished trial in the journal."""
    append_event(run, "trial", trial=json.loads(trial.model_dump_json()))


def small_run(folder: Path) -> RunDirectory:
    """Two trials: a search that failed at 2 kpps, a validation that passed at 1 kpps."""
    run = RunDirectory.create(folder, "demo", EXPERIMENT)
    append_event(run, "run-started", method="trial")
    append_trial(run, record(1, load_pps=2000.0, verdict="fail"))
    append_trial(run, record(2, phase="validation", load_pps=1000.0))
    write_metrics(run, "trial-0001", of_trial(1900.0), period="trial-0001")
    write_metrics(run, "trial-0002", of_trial(1000.0), period="trial-0002")
    return run
