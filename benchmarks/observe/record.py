"""How large the record of hours of observing becomes, and what CPU time writing it takes.

`python -m benchmarks.observe.record`, from the repository's root, lets all observers read a
host made of files in memory (40 CPUs, 200 interrupts) for three hours of made-up time, a
second at a time and as fast as it goes. It writes what they say as a trial does, lines that
become Parquet part by part, and prints sizes and CPU time. The aim is 100 MB and 1 % of a
core. In the end the interrupts in the record are held against those of the files.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.observe.forwarding_host import ForwardingHost, forwarding_host
from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.metrics.metric_log import MetricLog, is_head
from plimsoll.record.metrics.metrics import MetricsWriter, query_metrics
from plimsoll.record.run.run_directory import RunDirectory

_S = 10**9
_PERIOD = "trial-0001"
# Between two observers of one reading, and from second to second, by up to so many ns: real
# clocks are never even, and rates of even seconds would take less room than real ones.
_JITTER_NS = 200_000


@dataclass
class Taken:
    """CPU time in s, by what it went into."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def by(self, what: str) -> Iterator[None]:
        """Add what passes in a `with`."""
        before = time.process_time()
        yield
        self.seconds[what] = self.seconds.get(what, 0.0) + time.process_time() - before


class Watch:
    """All observers of a host made of files, at a made-up time."""

    def __init__(self, host: ObservedHost) -> None:
        self._clock = random.Random(1)  # noqa: S311 - a clock's unevenness
        self._log = MetricLog(_PERIOD, 0, {"hostname": "host", "cstype": "profiler"})
        self._watched: list[tuple[Observer, Readings]] = []
        for kind in OBSERVERS:
            readings = Readings(kind.name(), self._log)
            readings.begin(0)
            try:
                observer = kind(host, readings)
                observer.read(readings)
            except (NotObservable, OSError) as error:
                print(f"not read: {kind.name()}: {error}")
                continue
            readings.lines()
            self._watched.append((observer, readings))

    def tick(self, second: int) -> list[str]:
        """The lines of all readings of a second."""
        now_ns, lines = second * _S, []
        for observer, readings in self._watched:
            now_ns += self._clock.randrange(_JITTER_NS)
            readings.begin(now_ns)
            observer.read(readings)
            lines += readings.lines()
        return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Let hours pass, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=3.0)
    parser.add_argument("--cpus", type=int, default=40)
    parser.add_argument("--interrupts", type=int, default=200)
    options = parser.parse_args(arguments)
    with (
        forwarding_host(cpus=options.cpus, interrupts=options.interrupts) as host,
        tempfile.TemporaryDirectory() as runs,
    ):
        run = RunDirectory.create(Path(runs), "observed", {})
        before = host.interrupts
        seconds = round(options.hours * 3600)
        taken, largest = record(run, host, seconds)
        print_figures(run, taken, largest, seconds)
        counted = query_metrics(
            run, "SELECT sum(count)::BIGINT FROM rows WHERE type = 'interrupts-sec'"
        )[0][0]
        fired = host.interrupts - before
        print(f"interrupts: {counted} in the record, {fired} in the files")


def record(run: RunDirectory, host: ForwardingHost, seconds: int) -> tuple[Taken, int]:
    """The CPU time that went into it, and the most bytes at any moment."""
    taken, largest = Taken(), 0
    with MetricsWriter(run, _PERIOD, "host") as writer:
        with taken.by("reading"):
            watch = Watch(host.observed)
        for second in range(1, seconds + 1):
            host.advance()
            with taken.by("reading"):
                lines = watch.tick(second)
            for part in by_part(lines):
                turns = is_head(part[0]) and second > 1
                largest = max(largest, size(run)) if turns else largest
                with taken.by("Parquet" if turns else "appending"):
                    writer.append(part)
        largest = max(largest, size(run))
        with taken.by("Parquet"):
            writer.finish()
    return taken, largest


def by_part(lines: Sequence[str]) -> list[list[str]]:
    """The lines, a head being the first of a part."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if is_head(line):
            parts.append([])
        parts[-1].append(line)
    return [part for part in parts if part]


def size(run: RunDirectory) -> int:
    """The bytes of all metrics."""
    return sum(path.stat().st_size for path in run.metrics.iterdir())


def print_figures(run: RunDirectory, taken: Taken, largest: int, seconds: int) -> None:
    """Sizes, rows and CPU time."""
    ((rows, series),) = query_metrics(
        run, "SELECT count(*), count(DISTINCT (source, type, names::VARCHAR)) FROM rows"
    )
    parts = len(list(run.metrics.iterdir()))
    print(f"{seconds} s: {rows} rows of {series} series in {parts} parts")
    print(f"on disk: {size(run) / 1e6:.1f} MB as Parquet, {largest / 1e6:.1f} MB at most")
    print(f"{size(run) / rows:.2f} B a row")
    for what, cpu_s in [*taken.seconds.items(), ("together", sum(taken.seconds.values()))]:
        print(f"CPU time {what:<10}{cpu_s:8.2f} s{cpu_s / seconds:9.3%} of a core")


if __name__ == "__main__":
    main()
