"""The trial at the lowest load, which bounds in multiples of its latency are held against."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest, TrialRunner
from plimsoll.errors import MachineError
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.traffic.plan import StreamPlan

# A machine that spoils so many trials in a row at next to no load cannot test anything.
MOST_BASELINE_TRIALS = 5


def measure_baseline(
    runner: TrialRunner, streams: tuple[StreamPlan, ...], load_pps: float
) -> TrialRecord:
    """Run trials of `streams` until the tester was fit in one. Raises MachineError."""
    duration_s = runner.session.experiment.trial.baseline
    for attempt in range(1, MOST_BASELINE_TRIALS + 1):
        request = TrialRequest(
            "baseline", load_pps, duration_s, streams, attempt=attempt, tester_only=True
        )
        record = runner.run(request)
        if record.verdict == "pass":
            return record
    raise MachineError(
        f"the tester was not fit in any of {MOST_BASELINE_TRIALS} trials at the lowest load: "
        f"{record.reasons[0].text}",
        where="search.minimum",
        remedy="give the tester quieter CPUs, or criteria that are not multiples of a baseline",
    )


def needs_baseline(experiment: Experiment) -> bool:
    """Whether any goal has a criterion that is a multiple of the latency at the lowest load."""
    return any(each.needs_baseline for goal in experiment.goals.values() for each in goal)


def has_baseline(trials: Iterable[TrialRecord]) -> bool:
    """Whether an earlier session has measured it."""
    return any(trial.phase == "baseline" and trial.verdict == "pass" for trial in trials)
