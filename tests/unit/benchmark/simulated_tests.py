"""Standard tests on the simulated DUT, in simulated time: what they ask and what is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.errors import Interrupted
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord

# Of the model; the simulated links carry 10 Gbit/s: 14,880,952 frames of 64 bytes a second.
CAPACITY_PPS = 1e6
BUFFER_FRAMES = 4096
LINE_64_PPS = 10e9 / (84 * 8)


def experiment(**changes: Any) -> Experiment:
    """A DUT of 1 Mpps with a buffer of 4096 frames, the same in every trial."""
    model = {
        "kind": "fixed-capacity",
        "capacity": "1Mpps",
        "capacity_deviation": 0,
        "buffer": BUFFER_FRAMES,
    }
    settings = {
        "name": "simulated",
        "lab": {"kind": "simulated", "model": model},
        "profile": {
            "streams": [
                {"name": "load", "role": "load", "flows": 4},
                {"name": "probe", "role": "latency", "rate": "1000pps"},
            ]
        },
        "trial": {"drain": "100ms", "warmup": None},
        "search": {"minimum": "10kpps", "maximum": "100%"},
    }
    return Experiment.model_validate(settings | changes)


def run_directory(root: Path, plan: Experiment) -> RunDirectory:
    return RunDirectory.create(root, plan.name, plan.normalised())


class Seen:
    """A ProgressListener that keeps the trials, and breaks the run off after `most` of them."""

    def __init__(self, most: int | None = None) -> None:
        self.trials: list[TrialRecord] = []
        self.notes: list[str] = []
        self._most = most

    def note(self, text: str) -> None:
        self.notes.append(text)

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        """Nothing to see."""

    def interval(self, interval: Interval) -> None:
        """Nothing to see."""

    def trial_ended(self, record: TrialRecord) -> None:
        self.trials.append(record)
        if self._most is not None and len(self.trials) >= self._most:
            raise Interrupted("SIGINT")
