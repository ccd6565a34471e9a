"""What booking one interval costs this process, in ms of CPU time, by part and by streams.

`python benchmarks/record/interval_cost.py` reads, books and shows made-up intervals of 1, 4
and 16 streams whose histograms are as wide as those of testpmd on two shared CPUs (1,400
buckets of latency, 700 across stalls). On such a machine all of it takes time from a
polling loop. --unsettled leaves the garbage collector as Python sets it up, as trials do not.

    parse        from the engine's line to an Interval
    book         metrics, spikes, and what judges the trial as it goes on
    histograms   the HdrHistogram log
    show         the live line of a terminal
"""

from __future__ import annotations

import argparse
import io
import json
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console

from plimsoll.benchmark.experiment import Experiment
from plimsoll.cli.progress import progress_on
from plimsoll.generator.engine_messages import read_message
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.generator.queue_parts import QueueParts
from plimsoll.generator.simulated.latency_shape import bucket_of
from plimsoll.host.settled_heap import settled_heap
from plimsoll.record.histogram_log import HistogramLog
from plimsoll.record.interval_samples import interval_samples
from plimsoll.record.metric_log import MetricLog
from plimsoll.record.metrics import MetricsWriter
from plimsoll.record.run_directory import RunDirectory
from plimsoll.record.spikes import SpikeLog
from plimsoll.traffic.compile import compile_profile
from plimsoll.trial.early_abort import EarlyAbort
from plimsoll.trial.series import TrialSeries

_BEGIN_NS = 1_773_480_413 * 10**9
_QUEUE_FRAMES = 16_384
# Frames by histogram, and so its width: of a load stream, of a probe, of a loop's gaps.
_LATENCIES, _ACROSS, _PROBES, _GAPS = 300_000, 4_000, 900, 1_500


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--intervals", type=int, default=120)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--unsettled", action="store_true")
    options = parser.parse_args(arguments)
    print(f"ms of CPU time an interval, of {options.intervals}: min / median / mean / max")
    for streams in options.streams:
        experiment, plan = experiment_of(streams)
        lines = messages(plan, options.intervals)
        width = statistics.mean(map(len, lines)) / 1e3
        print(f"\n{streams} streams, {width:.0f} kB an interval")
        with ExitStack() as stack:
            if not options.unsettled:
                stack.enter_context(settled_heap())
            for part, times_ms in measure(experiment, plan, lines).items():
                print(f"  {part:<12}{row(times_ms)}")


def experiment_of(streams: int) -> tuple[Experiment, TrialPlan]:
    """So many streams between two ports, one in four of them a probe."""
    profile = [
        {"name": f"load-{n}", "role": "load", "direction": "unidirectional"}
        if n % 4 != 3
        else {
            "name": f"probe-{n}",
            "role": "latency",
            "rate": "1000pps",
            "direction": "unidirectional",
        }
        for n in range(streams)
    ]
    experiment = Experiment.model_validate(
        {
            "name": "interval-cost",
            "lab": {"kind": "simulated", "model": {"kind": "rare-stalls"}},
            "profile": {"streams": profile},
            "search": {"strategy": "binary", "minimum": "50kpps", "maximum": "2Mpps"},
        }
    )
    compiled = compile_profile(experiment.profile, 300_000.0, ((0, 1), (1, 0)))
    plan = experiment.trial.plan(compiled, 3600.0, mark=1, queue_frames=_QUEUE_FRAMES)
    return experiment, plan


def measure(
    experiment: Experiment, plan: TrialPlan, lines: Sequence[bytes]
) -> dict[str, list[float]]:
    """The ms that each part took of each interval, and all of them together."""
    times: dict[str, list[float]] = {"parse": [], "book": [], "histograms": [], "show": []}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        run = RunDirectory.create(Path(folder), "cost", experiment.normalised())
        book = booking(experiment, plan, run, stack)
        histograms = stack.enter_context(HistogramLog(run.histograms))
        screen = Console(file=io.StringIO(), force_terminal=True, width=120)
        progress = stack.enter_context(progress_on(screen))
        progress.trial_started(1, "validation", 300_000.0, plan)
        parts = QueueParts.of(plan.streams, [1, 1])
        for line in lines:
            interval = timed(times["parse"], lambda: parts.interval(_interval(line)))  # noqa: B023
            timed(times["book"], lambda: book(interval))  # noqa: B023
            timed(times["histograms"], lambda: histograms.append(plan.streams, interval))  # noqa: B023
            timed(times["show"], lambda: progress.interval(interval))  # noqa: B023
    return {**times, "all": [sum(each) for each in zip(*times.values(), strict=True)]}


def booking(
    experiment: Experiment, plan: TrialPlan, run: RunDirectory, stack: ExitStack
) -> Callable[[Interval], object]:
    """What is done with an interval before it is shown, but for its histograms."""
    series = TrialSeries(plan, "dut", _QUEUE_FRAMES)
    abort = EarlyAbort(plan, experiment.criteria, "dut", _QUEUE_FRAMES)
    spikes = stack.enter_context(SpikeLog(run))
    metrics = stack.enter_context(MetricsWriter(run, "trial-0001"))
    log = MetricLog("trial-0001", 0)

    def book(interval: Interval) -> None:
        series.add(interval)
        samples = interval_samples(plan.streams, interval, refused_is_lost=True)
        end_ns = interval.end_unix_ns
        metrics.append(log.samples(samples, end_ns - 10**9, end_ns))
        spikes.append(1, plan.streams, interval)
        abort(interval)

    return book


def _interval(line: bytes) -> Interval:
    message = read_message(line)
    if not isinstance(message, Interval):
        raise TypeError("an interval was written")
    return message


def timed[T](into: list[float], work: Callable[[], T]) -> T:
    """What `work` returns; the ms of CPU time that it took are added to `into`."""
    before_ns = time.process_time_ns()
    found = work()
    into.append((time.process_time_ns() - before_ns) / 1e6)
    return found


def row(times_ms: Sequence[float]) -> str:
    """A line of the table."""
    figures = (min(times_ms), statistics.median(times_ms), statistics.mean(times_ms), max(times_ms))
    return " / ".join(f"{figure:6.2f}" for figure in figures)


def messages(plan: TrialPlan, count: int) -> list[bytes]:
    """The lines of so many intervals, as the engine says them."""
    chance = Random = random.Random(1)
    return [json.dumps(message, separators=(",", ":")).encode() for message in []]


if __name__ == "__main__":
    main()
