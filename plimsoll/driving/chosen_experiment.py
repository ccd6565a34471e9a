"""The experiment that a caller means: a file, or one that was read already."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.experiment.set_field import parse_set_field
from plimsoll.errors import InputError

AnyExperiment = str | os.PathLike[str] | Experiment


def chosen_experiment(experiment: AnyExperiment, fields: Iterable[str]) -> Experiment:
    """Read it, with the fields that `fields` set, each as --set has it ("trial.drain=1s").

    Raises InputError for mistakes, with file, line and field.
    """
    settings = [parse_set_field(each) for each in fields]
    if not isinstance(experiment, Experiment):
        return load_experiment(Path(experiment), settings)
    if settings:
        raise InputError(
            "an experiment that was read already is as it is",
            where="fields",
            remedy="name the experiment by its path",
        )
    return experiment
