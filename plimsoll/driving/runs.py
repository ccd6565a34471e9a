"""Trials and searches from Python, by the code that the commands run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from plimsoll.analysis.run import Run
from plimsoll.analysis.runs import open_run
from plimsoll.analysis.trial import Trial
from plimsoll.benchmark.experiment.reading_interval import check_readings, check_search_readings
from plimsoll.benchmark.experiment.trial_settings import check_trial_duration
from plimsoll.benchmark.whole_run.preflight import check_search, check_trial
from plimsoll.driving.chosen_experiment import AnyExperiment, chosen_experiment
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.host.ledger.ledger import sweep
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.methods.trial.run import run_single_trial
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.units import format_pps, parse_duration, parse_rate


def run_trial(
    experiment: AnyExperiment,
    load: str,
    duration: str,
    *,
    fields: Iterable[str],
    runs: str | os.PathLike[str],
    tell: Callable[[str], None],
) -> Trial:
    """One trial into a run directory of its own, opened. As `plimsoll trial`."""
    planned = chosen_experiment(experiment, fields)
    rate = parse_rate(load)
    duration_s = check_trial_duration(parse_duration(duration), "duration")
    check_trial(planned, rate, "load")
    check_readings(planned, {"duration": duration_s})
    sweep()
    directory = RunDirectory.create(Path(runs), f"{planned.name}-trial", planned.normalised())
    record = run_single_trial(planned, directory, rate, duration_s, QuietListener(tell))
    return open_run(directory.path, runs).trial(record.number)


def run_search(
    experiment: AnyExperiment,
    *,
    fields: Iterable[str],
    runs: str | os.PathLike[str],
    tell: Callable[[str], None],
) -> Run:
    """The experiment's search and validation into a run directory, opened. As `plimsoll run`."""
    planned = chosen_experiment(experiment, fields)
    check_search(planned)
    check_search_readings(planned)
    sweep()
    directory = RunDirectory.create(Path(runs), planned.name, planned.normalised())
    find_load_line(planned, directory, QuietListener(tell))
    return open_run(directory.path, runs)


# What a caller in Python sees of a run: its notes, if at all.
@dataclass(frozen=True)
class QuietListener:
    """A ProgressListener that tells notes and verdicts."""

    tell: Callable[[str], None]

    def note(self, text: str) -> None:
        """As it is."""
        self.tell(text)

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        """Nothing: it will end."""

    def interval(self, interval: Interval) -> None:
        """Nothing."""

    def trial_ended(self, record: TrialRecord) -> None:
        """In a line."""
        load = format_pps(record.load_pps)
        self.tell(f"trial {record.number} ({record.phase}) at {load}: {record.verdict}")
