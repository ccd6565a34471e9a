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
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.generator.engine.messages import read_message
from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.histogram import bucket_of
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.host.processes.garbage_collection import gc_frozen
from plimsoll.record.causes.spikes import SpikeLog
from plimsoll.record.metrics.histogram_log import HistogramLog
from plimsoll.record.metrics.interval_samples import interval_samples
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.commands.running import progress_on
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.trial.judging.early_abort import EarlyAbort
from plimsoll.trial.outcome.series import TrialSeries

_BEGIN_NS = 1_773_480_413 * 10**9
_QUEUE_FRAMES = 16_384
_LOAD_PPS = 300_000.0
# The draws of which histograms are made decide how wide they are.
_LATENCIES, _ACROSS, _PROBES, _PROBES_ACROSS, _GAPS = 30_000, 2_500, 400, 20, 1_500
_DRAWS = (_LATENCIES, _ACROSS, _PROBES, _PROBES_ACROSS, _GAPS)
_VARIANTS = 8
_NOTHING: dict[str, object] = {
    "count": 0,
    "sum_ns": 0,
    "min_ns": None,
    "max_ns": None,
    "buckets": [],
}
S = TypeVar("S")
T = TypeVar("T")


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
                stack.enter_context(gc_frozen())
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
    compiled = compile_profile(experiment.profile, _LOAD_PPS, ((0, 1), (1, 0)))
    plan = experiment.trial.plan(
        compiled, 3600.0, load_pps=_LOAD_PPS, mark=1, queue_frames=_QUEUE_FRAMES
    )
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
        progress.trial_started(1, "validation", plan)
        parts = QueueParts.of(plan.streams, [1, 1])
        log = partial(histograms.append, plan.streams)
        for line in lines:
            interval = timed(times["parse"], lambda line: parts.interval(parsed(line)), line)
            for part, work in (("book", book), ("histograms", log), ("show", progress.interval)):
                timed(times[part], work, interval)
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


def parsed(line: bytes) -> Interval:
    """The interval in a line."""
    message = read_message(line)
    if not isinstance(message, Interval):
        raise TypeError("an interval was written")
    return message


def timed(into: list[float], work: Callable[[S], T], on: S) -> T:
    """What `work` makes of it; the ms of CPU time that it took are added to `into`."""
    before_ns = time.process_time_ns()
    found = work(on)
    into.append((time.process_time_ns() - before_ns) / 1e6)
    return found


def row(times_ms: Sequence[float]) -> str:
    """A line of the table."""
    figures = (min(times_ms), statistics.median(times_ms), statistics.mean(times_ms), max(times_ms))
    return " / ".join(f"{figure:6.2f}" for figure in figures)


def messages(plan: TrialPlan, count: int) -> list[bytes]:
    """The lines of so many intervals, as the engine says them."""
    chance = random.Random(1)  # noqa: S311 - made-up latencies
    made = {draws: [histogram(chance, draws) for _ in range(_VARIANTS)] for draws in _DRAWS}

    def drawn(draws: int) -> Mapping[str, object]:
        return chance.choice(made[draws]) if draws else _NOTHING

    return [
        json.dumps(message(plan, n, drawn), separators=(",", ":")).encode() for n in range(count)
    ]


def message(
    plan: TrialPlan, number: int, drawn: Callable[[int], Mapping[str, object]]
) -> dict[str, object]:
    """One interval; `drawn` makes a histogram of so many draws."""
    return {
        "event": "interval",
        "id": 2,
        "index": number,
        "phase": "send",
        "begin_s": float(number),
        "end_s": number + 1.0,
        "end_unix_ns": _BEGIN_NS + (number + 1) * 10**9,
        "streams": [stream(each, drawn) for each in plan.streams],
        "ports": [port(each) for each in (0, 1)],
        "workers": [worker(number, drawn)],
    }


def stream(plan: StreamPlan, drawn: Callable[[int], Mapping[str, object]]) -> dict[str, object]:
    """A stream that lost nothing."""
    probe = plan.role == "latency"
    faults = (
        *("refused", "skipped", "no_buffer", "timed_out", "missing"),
        *("out_of_order", "duplicate", "corrupt", "misdirected", "low_end_unknown"),
    )
    return {
        "stream": plan.stream,
        "sent": 300_000,
        "received": 300_000,
        "received_bytes": 300_000 * 64,
        **dict.fromkeys(faults, 0),
        "latency": drawn(_PROBES if probe else _LATENCIES),
        "latency_across_stalls": drawn(_PROBES_ACROSS if probe else _ACROSS),
        "latency_less_stalls": drawn(_PROBES_ACROSS if probe else _ACROSS),
        "lateness": drawn(_PROBES if probe else 0),
        **({"latency_us": [[n, 20] for n in range(50)]} if probe else {}),
    }


def port(number: int) -> dict[str, object]:
    """A port without a fault."""
    counters = ("foreign", "stale", "rx_missed", "rx_errors", "rx_no_mbuf", "buffers_in_use")
    kinds = dict.fromkeys(("arp", "lldp", "stp", "slow", "ipv4", "ipv6", "runt", "other"), 0)
    return {
        "port": number,
        **dict.fromkeys(counters, 0),
        "foreign_kinds": kinds,
        "link_up": True,
    }


def worker(number: int, drawn: Callable[[int], Mapping[str, object]]) -> dict[str, object]:
    """A loop that was away often, for 90 ms in all."""
    steps = ("build", "send", "poll", "measure")
    return {
        "cpu": 0,
        "polls": 4_000_000,
        "idle_polls": 3_300_000,
        "stalls": 400,
        "stalled_ns": 90_000_000,
        "worst_stall_ns": 400_000,
        "gaps": drawn(_GAPS),
        "cycles": {step: {"ticks": 20_000_000, "frames": 28_000} for step in steps},
        "longest": [
            {"at_s": number + n / 20, "tsc": 10**12 + n, "length_ns": 400_000 - n}
            for n in range(16)
        ],
    }


def histogram(chance: random.Random, draws: int) -> dict[str, object]:
    """Times from a fifth of a microsecond to some milliseconds, most of them short."""
    values = [round(200 + chance.lognormvariate(7.3, 1.6)) for _ in range(draws)]
    return {
        "count": len(values),
        "sum_ns": sum(values),
        "min_ns": min(values),
        "max_ns": max(values),
        "buckets": sorted(Counter(map(bucket_of, values)).items()),
    }


if __name__ == "__main__":
    main()
