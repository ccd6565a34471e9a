"""What a matrix run is to do, as its directory keeps it from the start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import yaml
from pydantic import Field, JsonValue

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.errors import InputError
from plimsoll.methods.matrix.document import Iteration, Matrix
from plimsoll.methods.matrix.result import METHOD
from plimsoll.methods.matrix.settings import Order, Sample, in_order
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.files.whole_file import read_whole, write_whole
from plimsoll.record.methods.method import Method
from plimsoll.record.run.run_directory import RunDirectory

_REMEDY = "restore it from a copy of the run, or start a new run"


class PlannedIteration(RecordModel):
    """One combination of values, by the paths of the fields that have them."""

    number: int
    params: dict[str, JsonValue]
    label: str = Field(default="", description="What people call it; empty: its params.")


class MatrixPlan(RecordModel):
    """matrix.json. The experiment of each iteration lies in the iteration's folder.

    So a run that is resumed does what it was begun for, whatever has become of the files
    that it was read from.
    """

    method: str = Field(
        default=METHOD.name, description="Of which method the run is: who goes on with it."
    )
    name: str
    order: Order
    seed: int
    samples: int
    iterations: tuple[PlannedIteration, ...]
    settings: dict[str, JsonValue] = Field(
        default={}, description="What else the method was to do, in its own terms."
    )

    @classmethod
    def of(cls, matrix: Matrix, method: Method[Any], settings: Mapping[str, JsonValue]) -> Self:
        """The plan of what was written, for a run of this method."""
        return cls(
            method=method.name,
            settings=dict(settings),
            name=matrix.name,
            order=matrix.settings.order,
            seed=matrix.settings.seed,
            samples=matrix.settings.samples,
            iterations=tuple(
                PlannedIteration(number=each.number, params=dict(each.params), label=each.label)
                for each in matrix.iterations
            ),
        )

    def in_order(self) -> Iterator[Sample]:
        """Every sample of every iteration, in the order in which they are run."""
        return in_order(len(self.iterations), self.samples, self.order, self.seed)


def begin_matrix(
    matrix: Matrix,
    runs: Path,
    method: Method[Any] = METHOD,
    settings: Mapping[str, JsonValue] = MappingProxyType({}),
) -> RunDirectory:
    """Make the directory of a new run, with all that it is to do. Raises RecordError."""
    run = RunDirectory.create(runs, matrix.name, matrix.written)
    for iteration in matrix.iterations:
        _write_iteration(run, iteration)
    # Last, so that whatever has a plan has all of it.
    write_whole(
        _plan_file(run), MatrixPlan.of(matrix, method, settings).model_dump_json(indent=2) + "\n"
    )
    return run


def read_plan(run: RunDirectory, method: Method[Any] | None = None) -> MatrixPlan:
    """The plan of a run, of this method if it is given.

    Raises InputError where it is not a matrix, or another method's, RecordError where damaged.
    """
    plan = read_whole(_plan_file(run), MatrixPlan, _REMEDY)
    if plan is None:
        raise InputError(
            "this is not a run of a matrix: it holds no matrix.json",
            where=str(run.path),
            remedy="name a directory that plimsoll matrix has made, or use plimsoll run --resume",
        )
    if method is not None and plan.method != method.name:
        raise InputError(
            f"this is a run of another kind ({plan.method})",
            where=str(run.path),
            remedy=f"resume it by plimsoll {plan.method} --resume {run.path}",
        )
    return plan


def read_iteration(run: RunDirectory, iteration: int) -> Experiment:
    """The experiment of one iteration, counted from 1. Raises InputError."""
    return load_experiment(iteration_folder(run, iteration) / "experiment.yaml")


def iteration_folder(run: RunDirectory, iteration: int) -> Path:
    """Where the samples of one iteration lie."""
    return run.path / f"iteration-{iteration:04}"


def sample_folder(run: RunDirectory, sample: Sample) -> Path:
    """Where the run directory of one sample is."""
    return iteration_folder(run, sample.iteration) / f"sample-{sample.number}"


def _plan_file(run: RunDirectory) -> Path:
    return run.path / "matrix.json"


def _write_iteration(run: RunDirectory, iteration: Iteration) -> None:
    folder = iteration_folder(run, iteration.number)
    try:
        folder.mkdir()
    except OSError as error:
        raise write_failed(folder, error) from error
    written = iteration.experiment.normalised()
    text = yaml.safe_dump(written, sort_keys=False, allow_unicode=True)
    write_whole(folder / "experiment.yaml", text)
