"""A run as a two-core machine without a NIC gives it, written through the public record API.

4 Mpps down by bisection; stolen CPUs spoil two trials; a first validation fails
and the second, below it, passes. All numbers come from one seeded generator.
"""

from __future__ import annotations

import atexit
import math
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from unittest import mock

from plimsoll.generator.histogram import Histogram, merge
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
from plimsoll.record.calibrations.calibration import CalibrationPoint, TesterCalibration
from plimsoll.record.calibrations.stored_calibration import (
    CleanRate,
    StoredCalibration,
    TesterIdentity,
)
from plimsoll.record.recorder import Recorder, recording
from plimsoll.record.results.result import DutAgreement, Result
from plimsoll.record.run.environment import Environment, HugepageFacts
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.counter_record import CounterRecord
from plimsoll.record.trials.trial_parts import TrialContext, TrialIdentity, TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.search.strategy.goal_end import GoalEnd
from plimsoll.traffic.plan import StreamPlan
from tests.this_thread import in_this_thread

BEGIN = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)
NAME = "demo"
PROBE_PPS = 1000
LOSS_LIMIT = 2e-5
TSC = 987_654_321_000
P99_LIMIT_NS = 500_000


@dataclass(frozen=True)
class Finding:
    rule: str
    subject: str
    value: float | None
    limit: float | None
    unit: str
    outcome: str
    text: str


@dataclass(frozen=True)
class DutPort:
    port: int
    rx_frames: int
    tx_frames: int
    rx_missed: int = 0
    rx_errors: int = 0
    tx_errors: int = 0
    rx_no_mbuf: int = 0


@dataclass(frozen=True)
class Step:
    """One trial to come: its load, what becomes of it, and how bad it is."""

    phase: TrialPhase
    load_pps: float
    seconds: int
    verdict: Verdict
    loss_ratio: float = 0.0
    stall_ms: float = 0.0
    attempt: int = 1


STEPS = (
    Step("calibration", 100_000, 3, "none"),
    Step("calibration", 4_000_000, 3, "none"),
    Step("warmup", 500_000, 3, "none"),
    Step("search", 4_000_000, 1, "fail", loss_ratio=0.21),
    Step("search", 2_250_000, 5, "pass"),
    Step("search", 3_125_000, 2, "fail", loss_ratio=0.031),
    Step("search", 2_687_500, 5, "invalid", stall_ms=61.0),
    Step("search", 2_687_500, 5, "pass", attempt=2),
    Step("search", 2_906_250, 2, "fail", loss_ratio=0.004),
    Step("search", 2_796_875, 5, "pass"),
    Step("validation", 2_796_875, 17, "fail", loss_ratio=0.0004),
    Step("search", 2_742_187.5, 5, "invalid", stall_ms=88.0),
    Step("search", 2_742_187.5, 5, "pass", attempt=2),
    Step("validation", 2_742_187.5, 60, "pass", stall_ms=7.5),
)


def bucket_index(value_ns: int) -> int:
    """HdrHistogram(1, 2^37-1, 2)'s counts index, written down from its paper's definition."""
    magnitude = max(0, value_ns.bit_length() - 8)
    return magnitude * 128 + (value_ns >> magnitude)


def histogram(values_ns: Mapping[int, int]) -> Histogram:
    """The histogram of value → count."""
    samples = {value: count for value, count in values_ns.items() if count}
    if not samples:
        return Histogram()
    buckets: Counter[int] = Counter()
    for value, count in samples.items():
        buckets[bucket_index(value)] += count
    return Histogram(
        count=sum(samples.values()),
        sum_ns=sum(value * count for value, count in samples.items()),
        min_ns=min(samples),
        max_ns=max(samples),
        buckets=tuple(sorted(buckets.items())),
    )


def lognormal(rng: random.Random, count: int, median_ns: float, spread: float) -> Histogram:
    """`count` samples of which at most 400 differ: the body in steps, the tail drawn."""
    if count <= 0:
        return Histogram()
    drawn = min(count, 400)
    values: Counter[int] = Counter()
    for n in range(drawn):
        share = count // drawn + (1 if n < count % drawn else 0)
        values[int(median_ns * math.exp(rng.gauss(0, spread)))] += share
    return histogram(values)


def stream_plans(load_pps: float) -> tuple[StreamPlan, ...]:
    """Load both ways and a probe one way, 64 B each."""
    frames = (bytes(60),)
    return (
        StreamPlan(0, "load/0-1", "load", 0, 1, frames, load_pps - PROBE_PPS),
        StreamPlan(1, "load/1-0", "load", 1, 0, frames, load_pps),
        StreamPlan(2, "probe/0-1", "latency", 0, 1, frames, PROBE_PPS),
    )


def stream_counts(
    rng: random.Random, plan: StreamPlan, step: Step, *, spoiled: bool, load_share: float
) -> StreamCounts:
    """One second of a stream."""
    assert plan.rate_pps is not None
    sent = round(plan.rate_pps)
    lossy = plan.role == "load" and step.loss_ratio and rng.random() < 0.9
    missing = round(sent * step.loss_ratio * rng.uniform(0.4, 1.6)) if lossy else 0
    received = sent - missing
    median_ns = 11_000 * (1 + 3 * load_share**4)
    across = round(received * step.stall_ms / 1000) if spoiled else 0
    late = lognormal(rng, sent, 180, 0.5) if plan.role == "latency" else Histogram()
    latency = lognormal(rng, received - across, median_ns, 0.32)
    return StreamCounts(
        stream=plan.stream,
        sent=sent,
        refused=0,
        skipped=0,
        no_buffer=0,
        timed_out=0,
        received=received,
        missing=missing,
        out_of_order=0,
        duplicate=0,
        corrupt=0,
        misdirected=0,
        latency=latency,
        latency_across_stalls=lognormal(rng, across, 3e6, 0.6),
        lateness=late,
        latency_us=by_microsecond(latency) if plan.role == "latency" else (),
    )


def by_microsecond(latency: Histogram) -> tuple[tuple[int, int], ...]:
    """Each bucket by the lowest value it counts."""
    frames: Counter[int] = Counter()
    for index, count in latency.buckets:
        magnitude = max(0, index // 128 - 1)
        frames[min(1000, ((index - magnitude * 128) << magnitude) // 1000)] += count
    return tuple(sorted(frames.items()))


def worker_counts(rng: random.Random, cpu: int, second: int, stall_ms: float) -> WorkerCounts:
    """One second of a polling loop: a few short stalls, and a long one where requested."""
    stalls = [
        Stall(second + rng.random(), TSC + second, int(20_000 * math.exp(abs(rng.gauss(0, 1.1)))))
        for _ in range(rng.randint(1, 6))
    ]
    if stall_ms:
        stalls.append(Stall(second + 0.5, TSC + second, int(stall_ms * 1e6)))
    stalls.sort(key=lambda stall: -stall.length_ns)
    return WorkerCounts(
        cpu=cpu,
        polls=9_000_000,
        idle_polls=2_000_000,
        stalls=len(stalls),
        stalled_ns=sum(stall.length_ns for stall in stalls),
        worst_stall_ns=stalls[0].length_ns,
        gaps=histogram(
            {1_200 + 40 * n: 5_000 >> n for n in range(8)}
            | {stall.length_ns: 1 for stall in stalls}
        ),
        cycles=CycleBudget(
            Cycles(36_000, 1000), Cycles(12_500, 1000), Cycles(9_000, 1000), Cycles(41_000, 1000)
        ),
        longest=tuple(stalls),
    )


def port_counts(port: int) -> PortCounts:
    """A port on which nothing went wrong."""
    return PortCounts(port, 2, {"arp": 0, "lldp": 2}, 0, 0, 0, 0, 2048, link_up=True)


def intervals(rng: random.Random, step: Step, begin_unix_ns: int) -> Iterable[Interval]:
    """The trial's seconds."""
    for second in range(step.seconds):
        spoiled = bool(step.stall_ms) and second == step.seconds // 2
        share = step.load_pps / STEPS[3].load_pps
        yield Interval(
            index=second,
            phase="send",
            begin_s=float(second),
            end_s=second + 1.0,
            end_unix_ns=begin_unix_ns + (second + 1) * 10**9,
            streams=tuple(
                stream_counts(rng, plan, step, spoiled=spoiled, load_share=share)
                for plan in stream_plans(step.load_pps)
            ),
            ports=(port_counts(0), port_counts(1)),
            workers=(worker_counts(rng, 1, second, step.stall_ms if spoiled else 0.0),),
        )


def total_streams(parts: list[Interval]) -> tuple[StreamCounts, ...]:
    """The sums of the intervals, stream by stream."""
    totals = []
    for index, first in enumerate(parts[0].streams):
        each = [part.streams[index] for part in parts]
        totals.append(
            replace(
                first,
                sent=sum(counts.sent for counts in each),
                received=sum(counts.received for counts in each),
                missing=sum(counts.missing for counts in each),
                latency=merge(counts.latency for counts in each),
                latency_across_stalls=merge(counts.latency_across_stalls for counts in each),
                lateness=merge(counts.lateness for counts in each),
                latency_us=total_microseconds(each),
            )
        )
    return tuple(totals)


def total_microseconds(parts: list[StreamCounts]) -> tuple[tuple[int, int], ...]:
    """The sums by microsecond."""
    frames: Counter[int] = Counter()
    for counts in parts:
        frames.update(dict(counts.latency_us))
    return tuple(sorted(frames.items()))


def total_workers(parts: list[Interval]) -> tuple[WorkerCounts, ...]:
    """The sums of the intervals of the one worker."""
    each = [part.workers[0] for part in parts]
    longest = sorted((s for w in each for s in w.longest), key=lambda stall: -stall.length_ns)
    return (
        replace(
            each[0],
            stalls=sum(worker.stalls for worker in each),
            stalled_ns=sum(worker.stalled_ns for worker in each),
            worst_stall_ns=longest[0].length_ns,
            gaps=merge(worker.gaps for worker in each),
            longest=tuple(longest[:64]),
        ),
    )


def findings(step: Step, streams: tuple[StreamCounts, ...]) -> tuple[Finding, ...]:
    """What a judge would say: loss per direction, the probe's p99, the tester's stalls."""
    if step.phase in ("calibration", "warmup"):
        return ()
    found = [_stall_finding(step), *_offered(streams)]
    for subject, members in (("0:1", (0, 2)), ("1:0", (1,))):
        sent = sum(streams[n].sent for n in members)
        ratio = sum(streams[n].missing for n in members) / sent
        outcome = "fail" if ratio > LOSS_LIMIT else "ok"
        sign = "above" if outcome == "fail" else "within"
        text = f"direction {subject} lost {ratio:.4%} of its frames, {sign} 0.002 %"
        found.append(Finding("loss-ratio", subject, ratio, LOSS_LIMIT, "ratio", outcome, text))
    p99_ns = streams[2].latency.quantile_ns(0.99)
    assert p99_ns is not None
    text = f"p99 of probe/0-1 is {p99_ns / 1e3:.1f} µs, within 500 µs"
    found.append(Finding("latency-p99", "probe/0-1", p99_ns, P99_LIMIT_NS, "ns", "ok", text))
    return tuple(found)


def _stall_finding(step: Step) -> Finding:
    stall_ns = (step.stall_ms or 0.3) * 1e6
    outcome = "invalid" if stall_ns > 50e6 else "ok"
    text = (
        f"the tester stalled on cpu 1 for {stall_ns / 1e6:.3g} ms at worst; at most 50 ms allowed"
    )
    return Finding("stall", "cpu 1", stall_ns, 50e6, "ns", outcome, text)


def _offered(streams: tuple[StreamCounts, ...]) -> list[Finding]:
    return [
        Finding("offered-rate", plan.name, 0.0, 0.05, "ratio", "ok", f"{plan.name}: 0 % off")
        for plan, _ in zip(stream_plans(1e6), streams, strict=True)
    ]


def run_step(recorder: Recorder, rng: random.Random, step: Step, begin_unix_ns: int) -> TrialRecord:
    """Record one trial and return it."""
    number = recorder.history().next_trial_number()
    plan = TrialPlan(
        number, stream_plans(step.load_pps), float(step.seconds), 0.5, load_pps=step.load_pps
    )
    with recorder.trial(
        plan,
        number=number,
        phase=step.phase,
        attempt=step.attempt,
        refused_is_lost=True,
    ) as trial:
        parts = list(intervals(rng, step, begin_unix_ns))
        for interval in parts:
            trial.interval(interval)
        record = trial_record(step, plan, parts, begin_unix_ns, number)
        trial.end(record)
    return record


def trial_record(
    step: Step, plan: TrialPlan, parts: list[Interval], begin_unix_ns: int, number: int
) -> TrialRecord:
    """The record of a trial from its intervals, the DUT agreeing to the frame."""
    streams = total_streams(parts)
    report = TrialReport(
        ended_by="stop" if step.verdict == "fail" else "duration",
        sending_s=float(step.seconds),
        begin_unix_ns=begin_unix_ns,
        streams=streams,
        ports=(port_counts(0), port_counts(1)),
        workers=total_workers(parts),
    )
    forward, back = (0, 2), (1,)
    # It sent each port two LLDP frames besides.
    dut = (
        DutPort(
            0, sum(streams[n].sent for n in forward), sum(streams[n].received for n in back) + 2
        ),
        DutPort(
            1, sum(streams[n].sent for n in back), sum(streams[n].received for n in forward) + 2
        ),
    )
    return TrialRecord.from_report(
        TrialIdentity(number, step.phase, attempt=step.attempt),
        plan,
        report,
        lost={counts.stream: counts.missing for counts in streams},
        context=TrialContext()
        if step.phase == "calibration"
        else TrialContext(dut=dut, counters=agreeing_counters(dut)),
    ).judged(step.verdict, findings(step, streams))


def agreeing_counters(dut: tuple[DutPort, ...]) -> list[CounterRecord]:
    """Each port and direction, the tester having counted the same."""
    into = [(each.port, "into", each.rx_frames) for each in dut]
    out_of = [(each.port, "out-of", each.tx_frames) for each in dut]
    return [
        CounterRecord(port=port, direction=direction, tester=frames, dut=frames)
        for port, direction, frames in (*into, *out_of)
    ]


def environment(calibration: TesterCalibration | None) -> Environment:
    """A laptop-like host."""
    return Environment(
        host="bench-07",
        kernel="6.1.0-28-amd64",
        kernel_version="#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1",
        cmdline="BOOT_IMAGE=/vmlinuz root=/dev/vda1 ro isolcpus=1 nohz_full=1",
        cpu_model="AMD EPYC 7B13",
        cpus_online="0-1",
        cpus_isolated="1",
        cpus_nohz_full="1",
        cpus_allowed="0-1",
        smt_active=False,
        numa_nodes="0",
        governors=None,
        memory_kib=8_147_532,
        hugepages=(HugepageFacts(size_kib=2048, total=512, free=128),),
        clocksource="tsc",
        versions=VERSIONS,
        calibration=calibration,
        earlier_calibrations=(earlier_calibration(calibration),) if calibration else (),
    )


def earlier_calibration(calibration: TesterCalibration) -> StoredCalibration:
    """What plimsoll calibrate found three days before the run."""
    return StoredCalibration(
        tester=TesterIdentity(
            host="bench-07",
            cpu_model="AMD EPYC 7B13",
            cpus=(1,),
            port_kind="net_ring",
            latency_clock="tsc",
            engine="0.1.0",
            dpdk="DPDK 22.11.6",
        ),
        measured_at=BEGIN - timedelta(days=3),
        kernel="6.1.0-28-amd64",
        traffic="load 64 B in 1024 flows, probe 64 B at 1 kpps",
        directions=2,
        points=calibration.points,
        clean_rate=CleanRate(
            pps_per_direction=8_250_000.0,
            clean_trials=3,
            trials=4,
            trial_s=0.5,
            fault_above="17 frames of load/0-0 were skipped, being late",
        ),
    )


VERSIONS: dict[str, str | None] = {
    "plimsoll": "0.1.0",
    "engine": "0.1.0",
    "dpdk": "DPDK 22.11.6",
    "python": "3.11.2",
}
EXPERIMENT: dict[str, object] = {
    "name": NAME,
    "lab": {"kind": "testpmd-memif", "forwarding": "mac"},
    "profile": {"streams": [{"name": "load", "frame_size": 64, "flows": 1024}]},
    "criteria": [
        {"kind": "loss-ratio", "at_most": "0.002 %", "per": "direction"},
        {"kind": "latency", "quantile": "p99", "at_most": "500 us"},
    ],
}


def write_sample_run(
    runs_root: Path, *, steps: tuple[Step, ...] = STEPS, finished: bool = True, name: str = NAME
) -> RunDirectory:
    """Record the whole run; with `finished` false it looks as after a kill of its process."""
    recorded = _recorded(steps, finished, name)
    return RunDirectory(Path(shutil.copytree(recorded, runs_root / recorded.name)))


@cache
def _recorded(steps: tuple[Step, ...], finished: bool, name: str) -> Path:
    """Recorded once in a process, as it is the same each time and takes a second."""
    runs_root = Path(tempfile.mkdtemp(prefix="plimsoll-sample-run-"))
    atexit.register(shutil.rmtree, runs_root)
    rng = random.Random(20260314)  # noqa: S311
    run = RunDirectory.create(runs_root, name, {**EXPERIMENT, "name": name}, now=BEGIN)
    clock_ns = int(BEGIN.timestamp()) * 10**9
    trials: list[TrialRecord] = []
    at_that_time = mock.patch("time.time_ns", in_this_thread(time.time_ns, lambda: clock_ns))
    with at_that_time, recording(run) as recorder:
        recorder.event("run-started", method="load-line")
        environment(None).write(run.environment)
        ports = [{"port": port, "latency_clock": "tsc"} for port in (0, 1)]
        recorder.event("lab-up", lab="testpmd-memif", ports=ports)
        for step in steps:
            trials.append(run_step(recorder, rng, step, clock_ns))
            clock_ns += (step.seconds + 2) * 10**9
        if finished:
            _finish(recorder, run, trials)
    return run.path


def _finish(recorder: Recorder, run: RunDirectory, trials: list[TrialRecord]) -> None:
    calibration = TesterCalibration(
        how="Over net_ring ports inside the engine, without a DUT",
        points=(
            CalibrationPoint.from_trial("probe and little load", trials[0]),
            CalibrationPoint.from_trial("full load", trials[1]),
        ),
    )
    environment(calibration).write(run.environment)
    compared = [trial for trial in trials if trial.dut is not None]
    result = Result.from_trials(
        trials,
        run_id=run.run_id,
        name=trials and NAME,
        ends=[GoalEnd("load-line", trials[-1].load_pps, "", "dut")],
        criteria={"load-line": EXPERIMENT["criteria"]},  # type: ignore[dict-item]
        line_rate_bps=10e9,
        dut_agreement=DutAgreement(
            trials_compared=len(compared), trials_agreeing=len(compared), differences=()
        ),
        calibration=calibration,
        versions=VERSIONS,
    )
    recorder.finish(result)
