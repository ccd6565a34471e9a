"""Outcomes for tests: a clean trial, of which a test spoils what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plimsoll.dut.lab import DrainedBy, DutPortCounters
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import (
    CycleBudget,
    Cycles,
    Interval,
    PortCounts,
    Stall,
    StreamCounts,
    TrialPlan,
    TrialReport,
    WorkerCounts,
)
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.series import TrialSeries

RATE_PPS = 100_000
PROBE_PPS = 1_000
DURATION_S = 10
# Load and probe come back into one port. A stall of n ms, in which 101 n frames do,
# overflows by 101 (n - 1).
QUEUE_FRAMES = 101

# Two load streams, one each way, and a probe.
LOAD_OUT, LOAD_BACK, PROBE = range(3)
RATES = {LOAD_OUT: RATE_PPS, LOAD_BACK: RATE_PPS, PROBE: PROBE_PPS}
PLAN = TrialPlan(
    mark=1,
    streams=(
        StreamPlan(LOAD_OUT, "load/0-1", "load", 0, 1, (bytes(60),), RATE_PPS),
        StreamPlan(LOAD_BACK, "load/1-0", "load", 1, 0, (bytes(60),), RATE_PPS),
        StreamPlan(PROBE, "probe/0-1", "latency", 0, 1, (bytes(60),), PROBE_PPS),
    ),
    duration_s=DURATION_S,
    drain_s=1,
    load_pps=RATE_PPS,
)


def samples(*values_ns: int) -> Histogram:
    """Values below 256 have a bucket each."""
    counts = {value: values_ns.count(value) for value in values_ns}
    return Histogram(
        count=len(values_ns),
        sum_ns=sum(values_ns),
        min_ns=min(values_ns),
        max_ns=max(values_ns),
        buckets=tuple(sorted(counts.items())),
    )


def stream_counts(stream: int, sent: int, lost: int = 0, **changes: Any) -> StreamCounts:
    """Of a stream that lost `lost` of the frames it sent."""
    clean = StreamCounts(
        stream=stream,
        sent=sent,
        refused=0,
        skipped=0,
        no_buffer=0,
        timed_out=0,
        received=sent - lost,
        missing=lost,
        out_of_order=0,
        duplicate=0,
        corrupt=0,
        misdirected=0,
        latency=samples(*(100, 110, 120) * 40) if stream == PROBE else Histogram(),
        latency_across_stalls=Histogram(),
        lateness=Histogram(),
    )
    return replace(clean, **changes)


def port_counts(port: int, **changes: Any) -> PortCounts:
    return replace(PortCounts(port, 0, {}, 0, 0, 0, 0, 0, link_up=True), **changes)


def worker_counts(*stalls_ns: int) -> WorkerCounts:
    """Of CPU 1."""
    longest = tuple(Stall(0.5, 10**9, length_ns) for length_ns in stalls_ns)
    worst_ns = max(stalls_ns, default=0)
    return WorkerCounts(
        cpu=1,
        polls=10**6,
        idle_polls=0,
        stalls=len(stalls_ns),
        stalled_ns=sum(stalls_ns),
        worst_stall_ns=worst_ns,
        gaps=Histogram(),
        cycles=CycleBudget(*[Cycles(0, 0)] * 4),
        longest=longest,
    )


def interval(
    index: int,
    lost: int = 0,
    *,
    stalls_ns: Sequence[int] = (),
    drain: bool = False,
) -> Interval:
    """A second in which only the load on its way out loses frames."""
    return Interval(
        index=index,
        phase="drain" if drain else "send",
        begin_s=index,
        end_s=index + 1,
        end_unix_ns=index * 10**9,
        streams=tuple(
            stream_counts(plan.stream, RATES[plan.stream], lost if plan.stream == LOAD_OUT else 0)
            for plan in PLAN.streams
        ),
        ports=(),
        workers=(worker_counts(*stalls_ns),),
    )


def dut_counters(
    rx_0: int = 0, tx_1: int = 0, rx_1: int = 0, tx_0: int = 0
) -> tuple[DutPortCounters, ...]:
    return (
        DutPortCounters(0, rx_0, tx_0, 0, 0, 0, 0),
        DutPortCounters(1, rx_1, tx_1, 0, 0, 0, 0),
    )


def series(
    intervals: Sequence[Interval], plan: TrialPlan = PLAN, drained_by: DrainedBy = "wire"
) -> TrialSeries:
    """What a trial leaves of these intervals."""
    kept = TrialSeries(plan, drained_by, QUEUE_FRAMES)
    for each in intervals:
        kept.add(each)
    return kept


def outcome(
    *,
    lost: int = 0,
    streams: Sequence[StreamCounts] | None = None,
    intervals: Sequence[Interval] = (),
    drained_by: DrainedBy = "wire",
    plan: TrialPlan = PLAN,
    dut: tuple[tuple[DutPortCounters, ...], tuple[DutPortCounters, ...]] | None = None,
    **changes: Any,
) -> Outcome:
    """A trial in which the load on its way out lost `lost`; `changes` are the report's."""
    report = TrialReport(
        ended_by="duration",
        sending_s=plan.duration_s,
        begin_unix_ns=0,
        streams=tuple(
            streams
            or (
                stream_counts(LOAD_OUT, RATE_PPS * DURATION_S, lost),
                stream_counts(LOAD_BACK, RATE_PPS * DURATION_S),
                stream_counts(PROBE, PROBE_PPS * DURATION_S),
            )
        ),
        ports=(port_counts(0), port_counts(1)),
        workers=(worker_counts(),),
    )
    before, after = dut or (None, None)
    return Outcome(
        plan=plan,
        report=replace(report, **changes),
        series=series(intervals, plan, drained_by),
        drained_by=drained_by,
        queue_frames=QUEUE_FRAMES,
        paths=((0, 1), (1, 0)),
        dut_before=before,
        dut_after=after,
    )
