"""Runs with hand-made metrics, written as Plimsoll writes them or as others may."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from plimsoll.record.metrics.metrics import MetricRow
from plimsoll.record.run.run_directory import RunDirectory

# 2025-12-12 04:53:18.842 UTC, as in the queries of the seed article.
BEGIN_MS = 1_765_515_198_842
END_MS = 1_765_526_025_254

_TABLE = """
    CREATE TABLE rows (period VARCHAR, source VARCHAR, "type" VARCHAR, class VARCHAR,
        unit VARCHAR, aggregation VARCHAR, names MAP(VARCHAR, VARCHAR), names_json VARCHAR,
        begin_ms BIGINT, end_ms BIGINT, monotonic_ms BIGINT, count BIGINT, value DOUBLE)"""


def row(
    source: str,
    kind: str,
    names: Mapping[str, str],
    value: float,
    *span_ms: int,
    count: int | None = None,
    aggregation: str = "sum",
) -> MetricRow:
    """`span_ms` are begin and end, those of the seed article's run where left out."""
    begin_ms, end_ms = span_ms or (BEGIN_MS, END_MS)
    return MetricRow(
        *("trial-0001", source, kind, "throughput", "1/s", aggregation, names),
        *(begin_ms, end_ms, 0, count, value),
    )


def sending(begin_ms: int = BEGIN_MS, end_ms: int = END_MS) -> MetricRow:
    """The generator sends, which is what says when a run measured."""
    names = {"port_pair": "0:1", "tx_port": "0", "rx_port": "1"}
    return row("trafficgen", "tx-pps", names, 1000.0, begin_ms, end_ms)


def make_run(root: Path, name: str, result: Mapping[str, object] | None = None) -> RunDirectory:
    run = RunDirectory.within(root / name, {})
    run.metrics.mkdir()
    if result is not None:
        run.result.write_text(json.dumps(result))
    return run


def write_rows(
    run: RunDirectory, file: str, rows: Sequence[MetricRow], *, foreign: bool = False
) -> Path:
    """`<file>.parquet`; a `foreign` one has only the columns that are documented."""
    path = run.metrics / f"{file}.parquet"
    values = [
        [
            *(r.period, r.source, r.type, r.metric_class, r.unit, r.aggregation),
            duckdb.Value({"key": list(r.names), "value": list(r.names.values())}, MAP),
            json.dumps(dict(sorted(r.names.items())), separators=(",", ":"), ensure_ascii=False),
            *(r.begin_ms, r.end_ms, r.monotonic_ms, r.count, r.value),
        ]
        for r in rows
    ]
    with duckdb.connect() as connection:
        connection.execute(_TABLE)
        if values:
            marks = ", ".join("?" * len(values[0]))
            connection.executemany(f"INSERT INTO rows VALUES ({marks})", values)  # noqa: S608
        columns = "* EXCLUDE (names_json)" if foreign else "*"
        connection.sql(f"SELECT {columns} FROM rows").write_parquet(str(path))  # noqa: S608
    return path


MAP = duckdb.map_type(duckdb.sqltype("VARCHAR"), duckdb.sqltype("VARCHAR"))
