"""A run whose wall clock is set between its trials and within them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import Interval, TrialReport
from plimsoll.record.recorder import recording
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.trial.running.trial import TrialClock
from tests.unit.record.trial_parts import BEGIN_NS, PROBE, counts, interval, plan, record

__all__ = ["SteppedTrial", "samples_of", "sent_of", "stepped_run"]
SECONDS = 4


@dataclass(frozen=True)
class SteppedTrial:
    """The clock is set by `before_s` before the trial, and by `within_s` in its third second."""

    before_s: float = 0.0
    within_s: float = 0.0


def samples_of(trial: int, second: int) -> list[int]:
    """Round trips in ns, which tell trials apart; below 256 ns a bucket is one value."""
    return [10 * trial + second] * (trial + 1)


def sent_of(trial: int, second: int) -> int:
    """Frames of the load stream."""
    return 1000 * trial + second


def stepped_run(folder: Path, trials: Sequence[SteppedTrial]) -> RunDirectory:
    """One trial follows the other by 6 s, by a clock that is never set."""
    run = RunDirectory.create(folder, "demo", {"name": "demo"})
    wall_ns = BEGIN_NS
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line", versions={}, settings={})
        for number, trial in enumerate(trials, start=1):
            wall_ns += round((trial.before_s + 6) * 1e9)
            phase: TrialPhase = "validation" if number == len(trials) else "search"
            with recorder.trial(
                plan(), number=number, phase=phase, refused_is_lost=True
            ) as recording_trial:
                clock = TrialClock()
                for second in range(SECONDS):
                    wall_ns += round(trial.within_s * 1e9) if second == 2 else 0
                    each = clock.interval(_interval(number, second, wall_ns))
                    recording_trial.interval(each)
                begin_ns = wall_ns - round(trial.within_s * 1e9)
                report = clock.report(_report(begin_ns))
                recording_trial.end(_record(number, phase, report, clock))
    return run


def _interval(trial: int, second: int, begin_ns: int) -> Interval:
    sent = sent_of(trial, second)
    values = samples_of(trial, second)
    histogram = Histogram(
        len(values), sum(values), values[0], values[0], ((values[0], len(values)),)
    )
    streams = (
        counts(0, sent=sent, received=sent),
        counts(PROBE.stream, sent=10, received=10, latency=histogram),
        counts(2, sent=sent, received=sent),
    )
    made = interval(streams, begin_s=float(second), end_s=second + 1.0)
    return replace(made, index=second, end_unix_ns=begin_ns + (second + 1) * 10**9)


def _report(begin_ns: int) -> TrialReport:
    return TrialReport("duration", float(SECONDS), begin_ns, (), (), ())


def _record(number: int, phase: TrialPhase, report: TrialReport, clock: TrialClock) -> TrialRecord:
    made = record(number, phase=phase)
    return made.model_copy(
        update={
            "begin_unix_ns": report.begin_unix_ns,
            "sending_s": report.sending_s,
            "clock_steps": clock.steps,
        }
    )
