"""Trials of our engine whose latency is looked at, and their latencies' exact figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from bench_bed import BenchBed

from plimsoll.generator.engine.engine import Engine
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.histogram import Histogram, bucket_bounds_ns
from plimsoll.generator.interface import StreamCounts, TrialPlan, TrialReport
from plimsoll.host.processes.affinity import housekeeping_cpus, pinned_off
from plimsoll.traffic.frames.field_writers import templates
from plimsoll.traffic.plan import Pacing, Role, StreamPlan
from plimsoll.traffic.streams.stream import Stream

PROBE, LOAD = 0, 1
_DESCRIPTORS = 1024
_WARMUP_S = 0.5
_DRAIN_S = 0.1
# What is longer than this away from the loop counts as a stall, and what it touched apart.
STALL_US = 2.0
(_FRAME,) = templates(Stream(name="smallest", role="load"), reverse=False).frames


@contextmanager
def quiet_engine(bed: BenchBed, devargs: Sequence[str]) -> Iterator[Engine]:
    """The engine with these ports, all polled on the generator's CPU, this process off it."""
    log = bed.ledger.directory / "engine.log"
    cpus = (bed.generator_cpu,)
    with closing(Engine.start(log, bed.ledger.environment)) as engine, pinned_off(cpus):
        engine.open(
            workers=EngineSettings(cpus=cpus).layout(len(devargs)),
            stamps="tsc",
            memory=bed.generator_memory,
            devargs=devargs,
            descriptors=_DESCRIPTORS,
            main_cpus=housekeeping_cpus(cpus),
            max_frame_bytes=len(_FRAME),
        )
        yield engine


def stream(
    number: int,
    role: Role,
    rate_pps: float,
    path: tuple[int, int],
    pacing: Pacing | None = None,
) -> StreamPlan:
    """A stream of the smallest UDP frames from one port to another."""
    return StreamPlan(
        stream=number,
        name=role,
        role=role,
        tx_port=path[0],
        rx_port=path[1],
        frames=(_FRAME,),
        rate_pps=rate_pps,
        pacing=pacing or Pacing(),
    )


def warm_up(engine: Engine, streams: Sequence[StreamPlan]) -> None:
    """A trial whose figures are of no interest."""
    run(engine, streams, _WARMUP_S, mark=1)


def run(
    engine: Engine, streams: Sequence[StreamPlan], seconds: float, mark: int = 2
) -> TrialReport:
    """A trial that calls every gap in the polling loop a stall that is longer than STALL_US."""
    plan = TrialPlan(
        mark=mark,
        streams=tuple(streams),
        duration_s=seconds,
        drain_s=_DRAIN_S,
        stall_us=STALL_US,
    )
    return engine.trial(plan, lambda _: False)


def counts_of(report: TrialReport, number: int) -> StreamCounts:
    """The stream's counts."""
    return next(counts for counts in report.streams if counts.stream == number)


def quantile_ns(histogram: Histogram, quantile: float) -> float:
    """Where in its bucket the quantile lies if the bucket's samples are spread evenly.

    A bucket's limits would be off by up to its width: 64 ns at 10 us, 512 ns at 100 us.
    """
    rank = quantile * histogram.count
    seen = 0
    for index, count in histogram.buckets:
        if seen + count >= rank:
            lowest, highest = bucket_bounds_ns(index)
            least = max(lowest, histogram.min_ns or 0)
            most = min(highest + 1, histogram.max_ns or 0)
            return least + max(0, most - least) * (rank - seen) / count
        seen += count
    return float(histogram.max_ns or 0)
