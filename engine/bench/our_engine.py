"""Our engine as fast as it can: frames of 1024 flows, each of them numbered and timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from bench_bed import BenchBed

from plimsoll.generator.engine.engine import Engine
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.interface import FrameCheck, Interval, StreamCounts, TrialPlan, TrialReport
from plimsoll.host.processes.affinity import housekeeping_cpus, pinned_off
from plimsoll.traffic.plan import FCS_BYTES
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream

Paths = tuple[tuple[int, int], ...]

FRAME_SIZE = 64
FLOWS = 1024
# Left out of every rate, on both sides.
WARMUP_S = 0.5
# More than any CPU can send, so that a full burst is due whenever the loop comes round.
_OUT_OF_REACH_PPS = 500e6
_DESCRIPTORS = 1024
_MARK = 1


@contextmanager
def our_engine(
    bed: BenchBed, devargs: Sequence[str], cpus: tuple[int, ...], frame_size: int = FRAME_SIZE
) -> Iterator[Engine]:
    """The engine with these ports open, this process off its CPUs."""
    log = bed.ledger.directory / "engine.log"
    with closing(Engine.start(log, bed.ledger.environment)) as engine, pinned_off(cpus):
        engine.open(
            workers=EngineSettings(cpus=cpus).layout(len(devargs)),
            stamps="tsc",
            memory=bed.generator_memory,
            devargs=devargs,
            descriptors=_DESCRIPTORS,
            main_cpus=housekeeping_cpus(cpus),
            max_frame_bytes=frame_size - FCS_BYTES,
        )
        yield engine


def load_stream(frame_size: int | None = FRAME_SIZE, flows: int = FLOWS, **more: Any) -> Stream:
    """The load of a contest, unless it says otherwise."""
    fields = {"name": "load", "role": "load", "frame_size": frame_size, "flows": flows, "prefix": 8}
    return Stream.model_validate(fields | more)


def run(
    engine: Engine,
    paths: Paths,
    seconds: float,
    *,
    load_pps: float = _OUT_OF_REACH_PPS,
    watch: Callable[[Interval], bool] = lambda _: False,
    load: Stream | None = None,
    check: FrameCheck = "signature",
) -> TrialReport:
    """Send the load on all paths for the warm-up and `seconds`, with a report every half second."""
    plan = TrialPlan(
        mark=_MARK,
        streams=compile_profile(Profile(streams=(load or load_stream(),)), load_pps, paths),
        duration_s=WARMUP_S + seconds,
        drain_s=0.1,
        interval_s=WARMUP_S,
        check=check,
    )
    return engine.trial(plan, watch)


def mpps(
    engine: Engine, paths: Paths, seconds: float, count: Callable[[StreamCounts], int]
) -> float:
    """The rate of a counter after the warm-up, over all streams, by the engine's own clock."""
    measured: list[Interval] = []

    def watch(interval: Interval) -> bool:
        if interval.phase == "send" and interval.index > 0:
            measured.append(interval)
        return False

    run(engine, paths, seconds, watch=watch)
    frames = sum(count(stream) for interval in measured for stream in interval.streams)
    return frames / (measured[-1].end_s - measured[0].begin_s) / 1e6
