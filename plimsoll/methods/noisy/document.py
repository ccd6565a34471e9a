"""The matrix of an experiment without its noise and with it, by turns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.experiment.reading_interval import check_search_readings
from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.errors import InputError
from plimsoll.methods.matrix.document import SECTION, Iteration, Matrix
from plimsoll.methods.matrix.result import NOISE_FIELD
from plimsoll.methods.matrix.settings import MatrixSettings


def load_noisy_matrix(path: Path, repetitions: int, settings: Sequence[SetField] = ()) -> Matrix:
    """Two iterations, quiet and noisy, each checked as `plimsoll run` would.

    Quiet, noisy, noisy, quiet: what drifts, drifts for both alike. Raises InputError for an
    experiment without noise and for what is wrong with it, MachineError for what the machine
    lacks.
    """
    noisy = load_experiment(path, settings)
    if not noisy.noise:
        raise InputError(
            "lists no neighbours under noise:, so there is nothing to compare",
            where=str(path),
            remedy="list its neighbours under noise:, or use plimsoll run",
        )
    quiet = noisy.model_copy(update={"noise": ()})
    written = noisy.normalised()
    varied = MatrixSettings.model_validate(
        {
            "sets": [{NOISE_FIELD: [[], written[NOISE_FIELD]]}],
            "samples": repetitions,
            "order": "abba",
        }
    )
    # The noisy one has every mistake that the quiet one could have.
    check_search(noisy)
    check_search_readings(noisy)
    return Matrix(
        noisy.name,
        varied,
        (_iteration(1, quiet), _iteration(2, noisy)),
        {**written, SECTION: varied.model_dump(mode="json")},
    )


def _iteration(number: int, experiment: Experiment) -> Iteration:
    noise = experiment.normalised()[NOISE_FIELD]
    return Iteration(number, {NOISE_FIELD: noise}, experiment)
