"""Small hand-made intervals and trials for the record's tests."""

from dataclasses import replace

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
from plimsoll.record.trials.trial_parts import TrialIdentity, TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.traffic.plan import StreamPlan

# 2026-03-14 09:26:53 UTC.
BEGIN_NS = 1_773_480_413_000_000_000
NONE = Histogram()
# Values below 256 ns have a bucket each, so these are exact: 100, 200, 200, 250 ns.
FOUR = Histogram(
    count=4, sum_ns=750, min_ns=100, max_ns=250, buckets=((100, 1), (200, 2), (250, 1))
)

# 36, 12 and 40.5 cycles a frame; nothing was requested while this was sampled.
BUDGET = CycleBudget(Cycles(2304, 64), Cycles(768, 64), Cycles(0, 0), Cycles(1296, 32))

PORT = PortCounts(0, 7, {"arp": 3, "lldp": 4}, 2, 3, 4, 5, 900, link_up=True)

LOAD = StreamPlan(0, "load/0-1", "load", 0, 1, (bytes(60),), 1000.0)
PROBE = StreamPlan(1, "probe/0-1", "latency", 0, 1, (bytes(124),), 10.0)
BACK = StreamPlan(2, "load/1-0", "load", 1, 0, (bytes(60),), 1000.0)
PLANS = (LOAD, PROBE, BACK)


def counts(
    stream: int,
    *,
    sent: int = 0,
    received: int = 0,
    refused: int = 0,
    missing: int = 0,
    duplicate: int = 0,
    corrupt: int = 0,
    skipped: int = 0,
    no_buffer: int = 0,
    timed_out: int = 0,
    latency: Histogram = NONE,
    across: Histogram = NONE,
    less_stalls: Histogram = NONE,
    lateness: Histogram = NONE,
    latency_us: tuple[tuple[int, int], ...] = (),
) -> StreamCounts:
    return StreamCounts(
        stream=stream,
        sent=sent,
        refused=refused,
        skipped=skipped,
        no_buffer=no_buffer,
        timed_out=timed_out,
        received=received,
        missing=missing,
        out_of_order=3,
        duplicate=duplicate,
        corrupt=corrupt,
        misdirected=0,
        latency=latency,
        latency_across_stalls=across,
        latency_less_stalls=less_stalls,
        lateness=lateness,
        latency_us=latency_us,
    )


def interval(
    streams: tuple[StreamCounts, ...],
    *,
    begin_s: float = 0.0,
    end_s: float = 1.0,
    stalls: tuple[Stall, ...] = (),
    stalled_ns: int = 0,
    gaps: Histogram = NONE,
    ports: tuple[PortCounts, ...] = (),
) -> Interval:
    worker = WorkerCounts(
        cpu=5,
        polls=10,
        idle_polls=1,
        stalls=len(stalls),
        stalled_ns=stalled_ns,
        worst_stall_ns=max((stall.length_ns for stall in stalls), default=0),
        gaps=gaps,
        cycles=BUDGET,
        longest=stalls,
    )
    return Interval(
        index=0,
        phase="send",
        begin_s=begin_s,
        end_s=end_s,
        end_unix_ns=BEGIN_NS + round(end_s * 1e9),
        streams=streams,
        ports=ports,
        workers=(worker,),
    )


def second(number: int = 0) -> Interval:
    """A second in which every stream moved."""
    streams = (
        counts(0, sent=1000, received=1000),
        counts(1, sent=10, received=10, latency=FOUR),
        counts(2, sent=1000, received=1000),
    )
    return interval(streams, begin_s=float(number), end_s=number + 1.0)


def plan(duration_s: float = 2.0, load_pps: float = 1000.0) -> TrialPlan:
    streams = (replace(LOAD, rate_pps=load_pps), PROBE, replace(BACK, rate_pps=load_pps))
    return TrialPlan(mark=7, streams=streams, duration_s=duration_s, drain_s=0.5, load_pps=load_pps)


def record(
    number: int = 1,
    *,
    phase: TrialPhase = "search",
    load_pps: float = 1000.0,
    verdict: Verdict = "pass",
    findings: tuple[object, ...] = (),
) -> TrialRecord:
    """A two-second trial in which every stream lost as many frames as its number says."""
    streams = tuple(
        counts(n, sent=1000, received=1000 - n, missing=n, latency=FOUR) for n in range(3)
    )
    report = TrialReport(
        ended_by="duration",
        sending_s=2.0,
        begin_unix_ns=BEGIN_NS,
        streams=streams,
        ports=(PORT,),
        workers=(
            WorkerCounts(5, 100, 10, 1, 30_000, 30_000, FOUR, BUDGET, (Stall(0.5, 77, 30_000),)),
        ),
    )
    return TrialRecord.from_report(
        TrialIdentity(number, phase),
        plan(load_pps=load_pps),
        report,
        lost={0: 0, 1: 1, 2: 2},
    ).judged(verdict, findings)
