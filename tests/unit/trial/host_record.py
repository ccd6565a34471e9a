"""A host's record for tests: rows written by hand, as the observers of a trial leave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb

from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.trial.outcome.host_metrics import HostMetrics

PERIOD = "trial-0001"
# Frames were sent for ten seconds from here on.
BEGIN_MS = 1_700_000_000_000
LENGTH_S = 10
HOSTNAME = "bench-07"
_COLUMNS = (
    "period VARCHAR, source VARCHAR, type VARCHAR, class VARCHAR, unit VARCHAR, "
    "aggregation VARCHAR, names MAP(VARCHAR, VARCHAR), begin_ms BIGINT, end_ms BIGINT, "
    "monotonic_ms BIGINT, count BIGINT, value DOUBLE"
)


@dataclass(frozen=True)
class Series:
    """`values` are (from, to, value) in s since the first frame; of a `counted` one the number."""

    source: str
    type: str
    names: Mapping[str, str]
    values: tuple[tuple[float, float, float], ...]
    unit: str = "CPUs"
    aggregation: str = "sum"
    counted: bool = False
    hostname: str = HOSTNAME


def share(cpu: int, state: str, value: float, **changes: Any) -> Series:
    """A CPU's share of time over a second before and after as well, as one long row."""
    busy = state not in ("idle", "iowait")
    return Series(
        "mpstat",
        "Busy-CPU" if busy else "NonBusy-CPU",
        {"num": str(cpu), "type": state},
        ((-1, 12, value),),
        **changes,
    )


def interrupts(cpu: int, irq: str, desc: str, each_second: Iterable[int]) -> Series:
    """So many interrupts in each second since the first frame."""
    return Series(
        "procstat",
        "interrupts-sec",
        {"cpu": str(cpu), "irq": irq, "desc": desc},
        tuple((n, n + 1, count) for n, count in enumerate(each_second)),
        unit="interrupts/s",
        counted=True,
    )


@dataclass(frozen=True)
class HostRecord:
    """Writes periods of a run and asks about them."""

    run: RunDirectory
    hosts: tuple[ObservedHostRecord, ...] = field(default_factory=lambda: (observed_host(),))

    def write(self, *series: Series, period: str = PERIOD, hostname: str = HOSTNAME) -> HostMetrics:
        """Record these series of a host; the time in question is the ten seconds."""
        rows = [row for each in series for row in rows_of(each, period)]
        self.run.metrics.mkdir(exist_ok=True)
        write_parquet(self.run.metrics / f"{period}@{hostname}.parquet", rows)
        end_ms = BEGIN_MS + LENGTH_S * 1000
        return HostMetrics(self.run, period, self.hosts, BEGIN_MS, end_ms)


def observed_host(
    hostname: str = HOSTNAME,
    polled: Mapping[str, str] = MappingProxyType({"tester": "0", "dut": "1"}),
    sources: tuple[str, ...] = ("mpstat", "procstat", "sar-mem", "cgroup"),
    missing: Mapping[str, str] = MappingProxyType({}),
) -> ObservedHostRecord:
    """A host on which tester and DUT have a CPU each."""
    return ObservedHostRecord(
        hostname=hostname,
        interval_s=1.0,
        ran_on="2-3",
        polled=dict(polled),
        sources=sources,
        missing=dict(missing),
    )


def write_parquet(path: Path, rows: list[tuple[object, ...]]) -> None:
    """A file of metrics with these rows."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE rows ({_COLUMNS})")
        for row in rows:
            connection.table("rows").insert(row)
        connection.table("rows").write_parquet(str(path))


def rows_of(series: Series, period: str, begin_ms: int = BEGIN_MS) -> Iterable[tuple[object, ...]]:
    """A series of a trial whose first frame was sent at `begin_ms`."""
    names = {"hostname": series.hostname, "cstype": "profiler", **series.names}
    for begin_s, end_s, value in series.values:
        yield (
            period,
            series.source,
            series.type,
            "throughput" if series.counted else "count",
            series.unit,
            series.aggregation,
            names,
            begin_ms + round(begin_s * 1000),
            begin_ms + round(end_s * 1000),
            0,
            int(value) if series.counted else None,
            value / (end_s - begin_s) if series.counted else value,
        )
