"""What the commands of the standard tests share: what to run, and what is kept when cut short."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from plimsoll.benchmark.beginning import asked_of, check_resumable
from plimsoll.benchmark.experiment import Experiment, load_experiment
from plimsoll.cli.output import stderr, stdout
from plimsoll.cli.plain_tables import print_sections
from plimsoll.errors import InputError, Interrupted, PlimsollError
from plimsoll.host.ledger import sweep
from plimsoll.record.journal import TRIAL_STARTED, read_journal
from plimsoll.record.method_result import MethodResult
from plimsoll.record.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.report.standard.sections import Answer

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


def given_experiment(command: StandardCommand, experiment: Path | None) -> Experiment:
    """The experiment that was named. Raises InputError where none was."""
    if experiment is None:
        raise InputError(
            "name an experiment, or a run to resume",
            where=f"plimsoll {command.name}",
            remedy=command.example,
        )
    return load_experiment(experiment)


@contextmanager
def running(command: StandardCommand, directory: RunDirectory) -> Iterator[None]:
    """Clean up after earlier runs, tell where this one is, and keep it if it is cut short."""
    for line in sweep():
        stderr.print(f"[dim]cleaned up after an earlier run:[/] {line}", soft_wrap=True)
    stderr.print(f"[dim]run:[/] {directory.path}", soft_wrap=True, highlight=False)
    try:
        yield
    except (Interrupted, PlimsollError):
        # What is being told may be that the disk is full or the record damaged.
        with suppress(PlimsollError):
            _say_how_to_go_on(command, directory)
        raise


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


def _say_how_to_go_on(command: StandardCommand, directory: RunDirectory) -> None:
    if read_journal(directory.journal).of_kind(TRIAL_STARTED):
        write_report(directory)
        stderr.print(
            "what was finished is kept; go on with: "
            f"plimsoll {command.name} --resume {directory.path}",
            soft_wrap=True,
            highlight=False,
        )
