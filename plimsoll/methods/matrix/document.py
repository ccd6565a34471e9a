"""A matrix as it is written: an experiment with a `matrix` section."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from plimsoll.benchmark.experiment.experiment import Experiment, complete, experiment_in
from plimsoll.benchmark.experiment.reading_interval import check_search_readings
from plimsoll.benchmark.experiment.set_field import SetField, with_fields
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.errors import InputError, PlimsollError
from plimsoll.methods.matrix.settings import (
    Combination,
    MatrixSettings,
    combinations,
    count,
    described,
)
from plimsoll.text.document import Document, read_document
from plimsoll.text.field_path import FieldPath

SECTION = "matrix"
# Of the smallest searches they take days.
_MAX_RUNS = 10_000


class _Section(BaseModel):
    """The document, looked at for its matrix alone."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    matrix: MatrixSettings


@dataclass(frozen=True, slots=True)
class Iteration:
    """One combination of values, and the experiment that has them; `label` names it to people."""

    number: int
    params: Combination
    experiment: Experiment
    label: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """All that is to be run. `written` is the document as plain data, for the record."""

    name: str
    settings: MatrixSettings
    iterations: tuple[Iteration, ...]
    written: dict[str, Any]


def load_matrix(path: Path, settings: Sequence[SetField] = ()) -> Matrix:
    """Read a matrix and every experiment in it, each checked as `plimsoll run` would.

    The fields of `settings` are set before they are varied. Raises InputError naming file, line
    and field of a mistake and, where only some combinations have it, the first of these;
    MachineError for what the machine lacks.
    """
    document, base = read_varied(path, SECTION, settings, "add `matrix:` with `sets:`")
    varied = _settings(document)
    iterations = tuple(_iterations(base, varied))
    return Matrix(iterations[0].experiment.name, varied, iterations, document.data)


@dataclass(frozen=True, slots=True)
class VariedDocument:
    """What is varied: the document, and settings that lead into a file which it names.

    `section` is where the matrix is written.
    """

    document: Document
    settings: tuple[SetField, ...]
    section: str


def read_varied(
    path: Path, section: str, settings: Sequence[SetField], remedy: str
) -> tuple[Document, VariedDocument]:
    """A document with such a section and the fields of `settings`, and what of it is varied.

    Without a name it has the file's. Raises InputError; `remedy` is for one without the section.
    """
    document = read_document(path)
    if section not in document.data:
        raise InputError(
            f"has no {section} section",
            where=str(path),
            remedy=f"{remedy}, or use plimsoll run",
        )
    document, left = with_fields(document, settings)
    document = replace(document, data={"name": path.stem, **document.data})
    rest = {field: value for field, value in document.data.items() if field != section}
    unresolved = tuple(setting for setting, _ in left)
    return document, VariedDocument(
        replace(document, data=rest), unresolved, document.place_of((section,))
    )


def _settings(document: Document) -> MatrixSettings:
    settings = document.validate(_Section).matrix
    runs = count(settings) * settings.samples
    if runs > _MAX_RUNS:
        raise InputError(
            f"matrix: {runs:,} runs in all",
            where=f"{document.path}:{document.line_of((SECTION,))}",
            remedy=f"vary less, for at most {_MAX_RUNS:,}",
        )
    return settings


def _iterations(base: VariedDocument, settings: MatrixSettings) -> Iterator[Iteration]:
    for number, params in enumerate(combinations(settings), start=1):
        try:
            experiment = with_values(base, params)
            check_search(experiment)
            check_search_readings(experiment)
        except PlimsollError as error:
            # Of whatever class: the same error, with the combination that has it.
            error.message = f"iteration {number} ({described(params)}): {error.message}"
            raise
        yield Iteration(number, params, experiment)


def with_values(base: VariedDocument, params: Combination) -> Experiment:
    """The experiment that has these values. Raises InputError with the place of what is wrong."""
    document = replace(base.document, data=copy.deepcopy(base.document.data))
    # A profile may be varied as a whole, and its own fields only once it is read.
    if "profile" in params:
        document.data["profile"] = copy.deepcopy(params["profile"])
    complete(document)
    document, unresolved = with_fields(document, base.settings)
    for _, error in unresolved:
        raise error
    for path, value in params.items():
        if path != "profile":
            document = document.with_value(
                FieldPath.parse(path), copy.deepcopy(value), base.section
            )
    return experiment_in(document, {})
