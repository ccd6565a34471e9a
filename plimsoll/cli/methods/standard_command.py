"""What the commands of the standard tests share: what to run, and what is kept when cut short."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.benchmark.session.beginning import asked_of, check_resumable
from plimsoll.cli.methods.running import running
from plimsoll.cli.tables.plain_tables import print_sections
from plimsoll.cli.terminal.output import stdout
from plimsoll.errors import InputError
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.run.journal import TRIAL_STARTED, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.report.pages.standard.sections import Answer
from plimsoll.web.open_metrics import LiveMetrics

S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True)
class StandardCommand:
    """A command's words: `plimsoll <name>`, whose method has the same name."""

    name: str
    example: str


@dataclass(frozen=True)
class Asked(Generic[S]):
    """What to run, by which settings, and where."""

    experiment: Experiment
    settings: S
    directory: RunDirectory


def new_run(command: StandardCommand, experiment: Experiment, settings: S, runs: Path) -> Asked[S]:
    """A run that begins, in a directory of its own under `runs`."""
    name = f"{experiment.name}-{command.name}"
    return Asked(experiment, settings, RunDirectory.create(runs, name, experiment.normalised()))


def resumed_run(
    command: StandardCommand, resume: Path, model: type[S], *, others_given: bool
) -> Asked[S]:
    """A run that goes on as it was asked. Raises InputError where it cannot."""
    if others_given:
        raise InputError(
            "a resumed run keeps its own experiment and options",
            where="--resume",
            remedy="name nothing else, or start a new run",
        )
    directory = RunDirectory.open(resume)
    experiment = load_experiment(directory.experiment)
    history = read_journal(directory.journal)
    check_resumable(history, command.name, experiment, directory)
    try:
        settings = model.model_validate(asked_of(history))
    except ValidationError as error:
        raise InputError(
            "the run does not say what was asked for",
            where=str(directory.journal),
            remedy="resume it with the version of plimsoll that began it, or start a new run",
        ) from error
    return Asked(experiment, settings, directory)


def given_experiment(
    command: StandardCommand,
    experiment: Path | None,
    set_fields: Sequence[SetField] | None = None,
) -> Experiment:
    """The experiment that was named, with fields set. Raises InputError where none was."""
    if experiment is None:
        raise InputError(
            "name an experiment, or a run to resume",
            where=f"plimsoll {command.name}",
            remedy=command.example,
        )
    return load_experiment(experiment, set_fields or ())


def running_standard(
    command: StandardCommand, directory: RunDirectory, live: LiveMetrics | None
) -> AbstractContextManager[None]:
    """As every command around its run; what a killed trial recorded is worth a report, too."""
    return running(
        command.name,
        directory,
        "what was finished is kept",
        lambda journal: journal.of_kind(TRIAL_STARTED),
        live,
    )


def print_outcome(
    result: MethodResult, answer: Answer, directory: RunDirectory, json: bool
) -> None:
    """Write the report, and print the result as tables or as JSON."""
    page = write_report(directory)
    if json:
        typer.echo(result.model_dump_json(indent=2))
        return
    print_sections(answer, stdout)
    stdout.print(f"\nreport: {page}", soft_wrap=True, highlight=False)
