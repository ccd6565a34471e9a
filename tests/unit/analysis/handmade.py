"""Runs made by hand, whose every figure is known."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from plimsoll.generator.interface import Interval, Stall
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.recorder import Recorder, recording
from plimsoll.record.results.result import Result
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.samples.metric_type import MetricSample, MetricType
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.search.strategy.goal_end import GoalEnd
from tests.unit.record.relisting import relist
from tests.unit.record.trial_parts import BEGIN_NS, FOUR, counts, interval, plan, record

LOAD_PPS = 1000.0
BUSY = MetricType("mpstat", "Busy-CPU", "count", "CPUs", "sum")
LOSS = FindingRecord(
    rule="loss-ratio",
    subject="0-1",
    value=0.002,
    limit=0.0,
    unit="ratio",
    outcome="fail",
    text="0-1: <b>2</b> of 1,000 frames lost",
)
STALL = Stall(at_s=0.5, tsc=77, length_ns=30_000)


def second_of(trial: int, number: int) -> Interval:
    """A second of a trial, each of which begins 100 s after the one before.

    The probe's round trips are those of FOUR, and so are the polling loop's gaps.
    """
    streams = (
        counts(0, sent=1000, received=1000),
        counts(1, sent=10, received=10, latency=FOUR, across=FOUR),
        counts(2, sent=1000, received=1000 - trial, missing=trial),
    )
    made = interval(streams, begin_s=float(number), end_s=number + 1.0, gaps=FOUR, stalls=(STALL,))
    return replace(made, end_unix_ns=begin_ns(trial) + (number + 1) * 10**9)


def begin_ns(trial: int) -> int:
    return BEGIN_NS + (trial - 1) * 100 * 10**9


def ended(number: int, phase: TrialPhase = "search", verdict: Verdict = "pass") -> TrialRecord:
    findings = (LOSS,) if verdict == "fail" else ()
    made = record(number, phase=phase, verdict=verdict, load_pps=LOAD_PPS, findings=findings)
    return made.model_copy(update={"begin_unix_ns": begin_ns(number)})


def run_trial(
    recorder: Recorder, number: int, phase: TrialPhase = "search", verdict: Verdict = "pass"
) -> None:
    with _trial(recorder, number, phase) as trial:
        for second in range(2):
            trial.interval(second_of(number, second))
        trial.end(ended(number, phase, verdict))


def cut_trial_short(recorder: Recorder, number: int) -> None:
    """What a kill leaves after a second."""
    with _trial(recorder, number, "validation") as trial:
        trial.interval(second_of(number, 0))


@contextmanager
def _trial(recorder: Recorder, number: int, phase: TrialPhase) -> Iterator:
    with recorder.trial(
        plan(load_pps=LOAD_PPS),
        number=number,
        phase=phase,
        refused_is_lost=False,
    ) as trial:
        yield trial


def begin(recorder: Recorder, method: str = "load-line") -> None:
    recorder.event("run-started", method=method, versions={"plimsoll": "0.1.0", "dpdk": None})


def finish(recorder: Recorder, name: str = "demo") -> None:
    trials = recorder.history().trials()
    end = GoalEnd(
        goal="load-line",
        load_line_pps=LOAD_PPS,
        reason="",
        limited_by="dut",
    )
    recorder.finish(
        Result.from_trials(
            trials,
            run_id=recorder.run.run_id,
            name=name,
            ends=[end],
            criteria={"load-line": [{"kind": "loss-ratio", "at_most": 0.0}]},
        )
    )


def finished_run(runs: Path, name: str = "demo") -> RunDirectory:
    """A search trial that failed, and a validation, the second, that passed."""
    run = RunDirectory.create(runs, name, {"name": name, "lab": {"kind": "testpmd-memif"}})
    with recording(run) as recorder:
        begin(recorder)
        run_trial(recorder, 1, verdict="fail")
        run_trial(recorder, 2, "validation")
        finish(recorder, name)
    return run


def killed_run(runs: Path) -> RunDirectory:
    """One trial, and another that has a second of metrics and no end."""
    run = RunDirectory.create(runs, "killed", {"name": "killed"})
    with recording(run) as recorder:
        begin(recorder)
        run_trial(recorder, 1)
        cut_trial_short(recorder, 2)
    return run


def add_host(
    run: RunDirectory, trial: int, host: str, busy: Mapping[tuple[str, str], Sequence[float]]
) -> None:
    """mpstat's Busy-CPU by number and type, a value each second from the trial's begin on."""
    log = MetricLog(trial_period(trial), 0)
    seconds = len(next(iter(busy.values())))
    with MetricsWriter(run, trial_period(trial), host) as writer:
        for second in range(seconds):
            samples = [
                MetricSample(BUSY, {"hostname": host, "num": num, "type": kind}, values[second])
                for (num, kind), values in busy.items()
            ]
            at_ns = begin_ns(trial) + second * 10**9
            writer.append(log.samples(samples, at_ns, at_ns + 10**9))
        writer.finish()
    relist(run)
