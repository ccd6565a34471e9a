"""A trial that a page is about, and the hosts that were observed during it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.record.run.environment import Environment, load_environment
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.trial.outcome.host_metrics import HostMetrics


@dataclass(frozen=True, slots=True)
class ObservedTrial:
    """`metrics` are of the hosts while `trial` sent its frames.

    `answers` says what the trial answers where a page has several: "64 B".
    """

    trial: TrialRecord
    metrics: HostMetrics
    answers: str = ""


def observed_trials(
    run: RunDirectory, trials: Mapping[str, TrialRecord]
) -> tuple[ObservedTrial, ...]:
    """Trials of a run by what they answer. Raises RecordError."""
    environment = load_environment(run.environment)
    return tuple(
        ObservedTrial(trial, observed_host_figures(run, environment, trial), answers)
        for answers, trial in trials.items()
    )


def only_trial(trial: TrialRecord | None, metrics: HostMetrics | None) -> tuple[ObservedTrial, ...]:
    """The one trial of a page about no other; none before there is any."""
    return () if trial is None or metrics is None else (ObservedTrial(trial, metrics),)


def observed_host_figures(
    run: RunDirectory, environment: Environment | None, trial: TrialRecord
) -> HostMetrics:
    """The metrics of the hosts while a trial sent its frames; of no host in older runs."""
    observed = environment.observed if environment else ()
    metrics = HostMetrics(run, trial_period(trial.number), observed)
    return metrics.during(trial.begin_unix_ns, trial.sending_s)


def longest_trial(trials: Sequence[TrialRecord], phase: TrialPhase) -> TrialRecord | None:
    """Of a phase that is resumed as a further trial, the one that covers most time."""
    of_phase = [trial for trial in trials if trial.phase == phase]
    return max(of_phase, key=lambda trial: trial.sending_s, default=None)
