"""A matrix as it is written: an experiment with a `matrix` section."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from plimsoll.benchmark.experiment.experiment import Experiment, complete
from plimsoll.benchmark.experiment.reading_interval import check_search_readings
from plimsoll.benchmark.matrix.combinations import Combination, combinations, count, described
from plimsoll.benchmark.matrix.field_path import FieldPath
from plimsoll.benchmark.matrix.settings import MatrixSettings
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.errors import InputError, PlimsollError
from plimsoll.text.document import Document, read_document

SECTION = "matrix"
# Of the smallest searches they take days.
_MOST_RUNS = 10_000


class _Section(BaseModel):
    """The document, looked at for its matrix alone."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    matrix: MatrixSettings


@dataclass(frozen=True, slots=True)
class Iteration:
    """One combination of values, and the experiment that has them."""

    number: int
    params: Combination
    experiment: Experiment


@dataclass(frozen=True, slots=True)
class Matrix:
    """All that is to be run. `written` is the document as plain data, for the record."""

    name: str
    settings: MatrixSettings
    iterations: tuple[Iteration, ...]
    written: dict[str, Any]


def load_matrix(path: Path) -> Matrix:
    """Read a matrix and every experiment in it, each checked as `plimsoll run` would.

    Raises InputError naming file, line and field of a mistake and, where only some
    combinations have it, the first of these; MachineError for what the machine lacks.
    """
    document = read_document(path)
    if not isinstance(document.data, dict) or SECTION not in document.data:
        raise InputError(
            "has no matrix section",
            where=str(path),
            remedy="add `matrix:` with `sets:`, or use plimsoll run",
        )
    settings = _settings(document)
    written = {"name": path.stem, **document.data}
    base = {field: value for field, value in written.items() if field != SECTION}
    iterations = tuple(_iterations(replace(document, data=base), settings))
    return Matrix(iterations[0].experiment.name, settings, iterations, written)


def _settings(document: Document) -> MatrixSettings:
    settings = document.validate(_Section).matrix
    runs = count(settings) * settings.samples
    if runs > _MOST_RUNS:
        raise InputError(
            f"matrix: {runs:,} runs in all",
            where=f"{document.path}:{document.line_of((SECTION,))}",
            remedy=f"vary less, for at most {_MOST_RUNS:,}",
        )
    return settings


def _iterations(base: Document, settings: MatrixSettings) -> Iterator[Iteration]:
    for number, params in enumerate(combinations(settings), start=1):
        try:
            experiment = _with_values(base, params)
            check_search(experiment)
            check_search_readings(experiment)
        except PlimsollError as error:
            # Of whatever class: the same error, with the combination that has it.
            error.message = f"iteration {number} ({described(params)}): {error.message}"
            error.where = error.where or str(base.path)
            raise
        yield Iteration(number, params, experiment)


def _with_values(base: Document, params: Combination) -> Experiment:
    data = copy.deepcopy(base.data)
    assert isinstance(data, dict)  # noqa: S101 - load_matrix has looked
    # A profile may be varied as a whole, and its own fields only once it is read.
    if "profile" in params:
        data["profile"] = copy.deepcopy(params["profile"])
    complete(data, base.path)
    for path, value in params.items():
        if path != "profile":
            FieldPath.parse(path).put(data, copy.deepcopy(value))
    return replace(base, data=data).validate(Experiment)
