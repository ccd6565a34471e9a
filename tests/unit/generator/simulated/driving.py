"""Trials on a simulated generator, and what must be true of every one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from plimsoll.generator.interface import Interval, StreamCounts, TrialPlan, TrialReport
from plimsoll.generator.simulated import SimulatedGenerator
from plimsoll.search.simulated.models.dut_model import DutModel
from plimsoll.search.simulated.models.registry import model_kinds
from plimsoll.traffic.plan import Pacing, StreamPlan

PATHS = ((0, 1), (1, 0))
FRAME = bytes(60)
COUNTERS = ("sent", "refused", "skipped", "timed_out", "received")


def chance_of(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - the draws of a simulation


def model_of(kind: str, **settings: object) -> DutModel:
    return model_kinds()[kind].model_validate({"kind": kind, **settings})


def generator_of(kind: str, seed: int = 0, **settings: object) -> SimulatedGenerator:
    return SimulatedGenerator(model_of(kind, **settings), PATHS, seed=seed)


def load_stream(
    load_pps: float | None,
    number: int = 0,
    path: tuple[int, int] = (0, 1),
    pacing: Pacing | None = None,
    frame_count: int | None = None,
) -> StreamPlan:
    return StreamPlan(
        stream=number,
        name=f"load/{path[0]}-{path[1]}",
        role="load",
        tx_port=path[0],
        rx_port=path[1],
        frames=(FRAME,),
        rate_pps=load_pps,
        pacing=pacing or Pacing(),
        frame_count=frame_count,
    )


def probe_stream(
    number: int = 1, pps: float | None = 1000.0, pacing: Pacing | None = None
) -> StreamPlan:
    return StreamPlan(
        stream=number,
        name="probe/0-1",
        role="latency",
        tx_port=0,
        rx_port=1,
        frames=(FRAME,),
        rate_pps=pps,
        pacing=pacing or Pacing(),
    )


def plan_of(
    *streams: StreamPlan, duration_s: float = 10.0, interval_s: float = 1.0, drain_s: float = 1.0
) -> TrialPlan:
    return TrialPlan(1, streams, duration_s, drain_s, interval_s)


@dataclass
class Watched:
    """A trial's report and all its intervals."""

    report: TrialReport
    intervals: list[Interval] = field(default_factory=list)

    def of(self, stream: int) -> list[StreamCounts]:
        return [
            each
            for interval in self.intervals
            for each in interval.streams
            if each.stream == stream
        ]

    def total(self, stream: int) -> StreamCounts:
        return next(each for each in self.report.streams if each.stream == stream)

    def lost(self, stream: int) -> int:
        return self.total(stream).sent - self.total(stream).received


def run(
    generator: SimulatedGenerator,
    plan: TrialPlan,
    stop: Callable[[Interval], bool] = lambda interval: False,
) -> Watched:
    intervals: list[Interval] = []

    def watch(interval: Interval) -> bool:
        intervals.append(interval)
        return stop(interval)

    return Watched(generator.trial(plan, watch), intervals)


def check(watched: Watched) -> None:
    """No frame is made or gone, none has two latencies, and nothing is negative."""
    for total in watched.report.streams:
        each = watched.of(total.stream)
        for counter in COUNTERS:
            assert sum(getattr(counts, counter) for counts in each) == getattr(total, counter)
            assert all(getattr(counts, counter) >= 0 for counts in each)
        sent = received = missing = 0
        for counts in each:
            sent, received = sent + counts.sent, received + counts.received
            missing += counts.missing
            assert sent >= received + missing
            _check_latencies(counts)
        _check_latencies(total)
        assert total.missing == total.sent - total.received
        if each[-1].received:
            assert missing <= total.missing


def _check_latencies(counts: StreamCounts) -> None:
    assert counts.latency.count + counts.latency_across_stalls.count == counts.received
    for histogram in (counts.latency, counts.latency_across_stalls, counts.lateness):
        assert sum(frames for _, frames in histogram.buckets) == histogram.count
        indices = [index for index, _ in histogram.buckets]
        assert indices == sorted(set(indices))
        assert all(frames > 0 for _, frames in histogram.buckets)
        if histogram.count:
            assert histogram.min_ns is not None
            assert histogram.max_ns is not None
            assert 0 < histogram.min_ns <= histogram.max_ns
            mean_ns = histogram.sum_ns / histogram.count
            assert histogram.min_ns <= mean_ns <= histogram.max_ns
    if counts.latency_us:
        assert sum(frames for _, frames in counts.latency_us) == counts.latency.count
