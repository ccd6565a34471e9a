"""How long questions to the metrics take: of one run of hours, and of many runs.

`python benchmarks/metrics/query.py` makes the runs, asks each question several times, and
prints least, median and greatest time, and the least CPU time, which says what a machine
that others use too would take if it were quiet. The long run has 40 CPUs, 200 interrupts and the
generator's series, a row a second each; the many runs are copies of ten with a minute of
it. Everything is queried through `plimsoll.record.query.ask`, on one thread, as the command
does; reading files for the first time is not part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import duckdb
from rich.console import Console
from rich.table import Table

from plimsoll.record.query import MetricQuery, ask, parse_breakouts, parse_filter
from plimsoll.record.run.run_directory import RunDirectory

_ROWS = (Path(__file__).parent / "rows.sql").read_text(encoding="utf-8")
_BEGIN_MS = 1_765_515_198_842
# About as many rows as MetricLog puts into a part.
_PART_ROWS = 65_536
_KINDS_OF_RUN = 10
_MANY_SECONDS = 60

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class Question:
    """What is queried, and what it is called in the table."""

    name: str
    query: MetricQuery


def main() -> int:
    """Run what the command line asks for; the exit status."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        begun = time.monotonic()
        long_run, rows = _long_run(root, round(options.hours * 3600))
        stderr.print(f"one run of {options.hours:g} h: {rows:,} rows, {_described(long_run)}")
        many = _many_runs(root, options.runs)
        stderr.print(f"{len(many):,} runs: {_described(many[0])} each")
        stderr.print(f"made in {time.monotonic() - begun:.0f} s")
        measured = {
            f"one run of {options.hours:g} h": [long_run],
            f"{len(many):,} runs of 1 min": many,
        }
        table = Table("of", "question", "rows", "min / median / max ms", "CPU min ms", title=None)
        found = []
        for of, runs in measured.items():
            for question in _questions(options.resolution, single=len(runs) == 1):
                count, times, cpu_ms = _timed(runs, question.query, options.repeats)
                table.add_row(of, question.name, f"{count:,}", _spread(times), f"{min(cpu_ms):.0f}")
                case = {"of": of, "question": question.name, "rows": count}
                found.append({**case, "ms": times, "cpu_ms": cpu_ms})
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(table)
    return 0


def _questions(resolution: int, *, single: bool) -> list[Question]:
    by_cpu = parse_breakouts("hostname=node-1,num,type")
    by_interrupt = parse_breakouts("cstype=profiler,hostname=node-1,desc=r/.*-1[0-9]/")
    ports = parse_breakouts("port_pair,rx_port,tx_port")
    busy = parse_filter("gt:0.5")
    # Thousands of windows of a thousand runs are no question that anybody could read.
    in_windows = MetricQuery("mpstat", "Busy-CPU", resolution=resolution)
    long_ones = [Question(f"Busy-CPU of all in {resolution} windows", in_windows)] if single else []
    return [
        *long_ones,
        Question("rx-pps by port", MetricQuery("trafficgen", "rx-pps", breakouts=ports)),
        Question(
            "Busy-CPU by CPU and type, gt:0.5",
            MetricQuery("mpstat", "Busy-CPU", breakouts=by_cpu, filter=busy),
        ),
        Question(
            "interrupts of ten queues by description",
            MetricQuery("procstat", "interrupts-sec", breakouts=by_interrupt),
        ),
        Question(
            "total of all interrupts",
            MetricQuery("procstat", "interrupts-sec", over_time="total"),
        ),
        Question(
            f"rx-pps in {resolution} windows",
            MetricQuery("trafficgen", "rx-pps", resolution=resolution),
        ),
    ]


def _timed(
    runs: Sequence[RunDirectory], query: MetricQuery, repeats: int
) -> tuple[int, list[float], list[float]]:
    """How many rows the answer has; each time but the first in ms, and the CPU's."""
    times, cpu_ms = [], []
    for _ in range(repeats + 1):
        begun, cpu_begun = time.monotonic(), time.process_time()
        answer = ask(runs, query)
        times.append((time.monotonic() - begun) * 1e3)
        cpu_ms.append((time.process_time() - cpu_begun) * 1e3)
    return len(answer.rows), times[1:], cpu_ms[1:]


def _spread(times: Sequence[float]) -> str:
    return " / ".join(f"{value:.0f}" for value in (min(times), median(times), max(times)))


def _long_run(root: Path, seconds: int) -> tuple[RunDirectory, int]:
    run = _empty_run(root, "long")
    # Every second of the host is this many rows: 40 CPUs by 9 types, 200 interrupts.
    step = max(1, _PART_ROWS // (40 * 9 + 200))
    rows = 0
    for part, first in enumerate(range(0, seconds, step)):
        last = min(first + step, seconds)
        rows += _write(run, part, first, last)
        if part % 20 == 0:
            stderr.print(f"  {first / seconds:.0%}", end="\r")
    return run, rows


def _many_runs(root: Path, count: int) -> list[RunDirectory]:
    models = []
    for number in range(min(count, _KINDS_OF_RUN)):
        models.append(_empty_run(root, f"model-{number}"))
        _write(models[-1], 0, number, number + _MANY_SECONDS)
    runs = []
    for number in range(count):
        run = RunDirectory(root / "many" / f"run-{number:05d}")
        shutil.copytree(models[number % len(models)].path, run.path)
        runs.append(run)
    return runs


def _empty_run(root: Path, name: str) -> RunDirectory:
    run = RunDirectory.within(root / name, {})
    run.metrics.mkdir()
    run.result.write_text('{"validation": {"trial": 1}}', encoding="utf-8")
    return run


def _write(run: RunDirectory, part: int, first_s: int, last_s: int) -> int:
    """Seconds of host and generator, as the writer of metrics would have left them."""
    suffix = f"-{part + 1:03d}" if part else ""
    rows = 0
    with duckdb.connect(config={"threads": "1"}) as connection:
        for of, name in (("generator", "trial-0001"), ("host", "trial-0001@node-1")):
            connection.execute(
                f"CREATE TABLE {of} AS {_ROWS.format(of=of)}", [_BEGIN_MS, first_s, last_s]
            )
            ordered = connection.sql(f"FROM {of} ORDER BY source, type, names_json, begin_ms")
            path = run.metrics / f"{name}{suffix}.parquet"
            ordered.write_parquet(str(path), compression="zstd")
            rows += connection.sql(f"SELECT count(*) FROM {of}").fetchall()[0][0]  # noqa: S608
    return rows


def _described(run: RunDirectory) -> str:
    sizes = [entry.stat().st_size for entry in os.scandir(run.metrics)]
    return f"{len(sizes)} files, {sum(sizes) / 1e6:.2f} MB"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=3.0, help="length of the long run")
    parser.add_argument("--runs", type=int, default=1000, help="how many short runs")
    parser.add_argument("--repeats", type=int, default=7, help="times each query is made")
    parser.add_argument("--resolution", type=int, default=70, help="windows of the last question")
    parser.add_argument("--output", type=Path, default=Path("build/bench/metrics-query.json"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
