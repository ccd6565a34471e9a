"""Soaks on the simulated lab, in simulated time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.methods.soak.result import SoakResult
from plimsoll.methods.soak.run import run_soak
from plimsoll.methods.soak.settings import SoakSettings
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.units import parse_rate


def soak_experiment(model: dict[str, Any] | None = None, **changes: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "demo",
            "lab": {"kind": "simulated", "model": model or {"kind": "fixed-capacity"}},
            "profile": {
                "streams": [
                    {"name": "load", "role": "load"},
                    {
                        "name": "probe",
                        "role": "latency",
                        "rate": "1000pps",
                        "direction": "unidirectional",
                    },
                ]
            },
            "trial": {"warmup": None},
            "search": {"strategy": "binary", "minimum": "50kpps", "maximum": "2Mpps"},
            **changes,
        }
    )


def soak_settings(load: str = "500kpps", **changes: Any) -> SoakSettings:
    return SoakSettings(load=parse_rate(load), **{"duration_s": 180.0, "window_s": 60.0, **changes})


class Silent:
    """A ProgressListener that keeps the notes and calls `each` with every interval."""

    def __init__(self, each: Callable[[Interval], None] = lambda _: None) -> None:
        self.notes: list[str] = []
        self._each = each

    def note(self, text: str) -> None:
        self.notes.append(text)

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        pass

    def interval(self, interval: Interval) -> None:
        self._each(interval)

    def trial_ended(self, record: TrialRecord) -> None:
        pass


def soak_run(folder: Path, experiment: Experiment) -> RunDirectory:
    return RunDirectory.create(folder, "demo", experiment.normalised())


def soaked(
    folder: Path,
    plan: SoakSettings,
    model: dict[str, Any] | None = None,
    each: Callable[[Interval], None] = lambda _: None,
) -> tuple[RunDirectory, SoakResult]:
    experiment = soak_experiment(model)
    run = soak_run(folder, experiment)
    return run, run_soak(experiment, plan, run, Silent(each))
