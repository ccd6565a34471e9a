"""The factory of commands that run one method on one experiment: `rfc2544`, `soak`, `probe`, …"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Generic, TypeVar

import typer
from pydantic import BaseModel

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.benchmark.session.session import ProgressListener, resumable
from plimsoll.benchmark.whole_run.method_run import check_returns
from plimsoll.errors import SIGNALLED, InputError
from plimsoll.record.methods.method import Method
from plimsoll.record.run.journal import TRIAL_STARTED, JournalContents
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.terminal.commands.running import progress_on, running, serving
from plimsoll.terminal.exit_codes import end_by
from plimsoll.terminal.options.options import (
    ExperimentArgument,
    JsonOption,
    MetricsPortOption,
    RunsOption,
    SetOption,
    TagsOption,
    tag_run,
)
from plimsoll.terminal.output import stderr, stdout

S = TypeVar("S", bound=BaseModel)
R = TypeVar("R", bound=BaseModel)

_ResumeOption = Annotated[Path | None, typer.Option(help="Resume this run after its last trial.")]


@dataclass(frozen=True)
class _ToRun(Generic[S]):
    """What to run, by which settings, and where."""

    experiment: Experiment
    settings: S
    directory: RunDirectory


def _started_trials(journal: JournalContents) -> object:
    """What a killed trial recorded is worth a report, too."""
    return journal.of_kind(TRIAL_STARTED)


@dataclass(frozen=True)
class StandardCommand(Generic[S, R]):
    """`plimsoll <command>` of a method; the options that all such commands have are added to it.

    `settings` takes the experiment, and as keywords the options that are the command's own, all
    of which have a default; it returns the run's settings, or raises what is wrong with them
    before anything is written. Its docstring is the command's help. `model` reads the settings
    of a running run, `run` runs or goes on with it, and `show` prints what it found.
    `examples` are for the help; `example` is the remedy where no experiment is named.

    `kept` is what stays of a run that is cut short, which gets a report where its journal holds
    what is `worth_a_report`.
    """

    method: Method[R]
    model: type[S]
    settings: Callable[..., S]
    run: Callable[[Experiment, S, RunDirectory, ProgressListener], R]
    show: Callable[[R, RunDirectory], None]
    example: str
    examples: tuple[str, ...]
    kept: str = "what was finished is kept"
    worth_a_report: Callable[[JournalContents], object] = _started_trials

    def add_to(self, app: typer.Typer) -> None:
        """Register the command."""
        epilog = "Examples: " + " · ".join(f"**{each}**" for each in self.examples)
        app.command(self.method.command.rpartition(" ")[2], epilog=epilog)(self._callback())

    def _callback(self) -> Callable[..., None]:
        """A function whose signature has all options, from which Typer reads them."""

        def command(
            experiment: ExperimentArgument = None,
            *,
            set_fields: SetOption = None,
            resume: _ResumeOption = None,
            runs: RunsOption = Path("runs"),
            tag: TagsOption = None,
            metrics_port: MetricsPortOption = None,
            json: JsonOption = False,
            **options: object,
        ) -> None:
            with serving(metrics_port) as live:
                if resume is None:
                    to_run = self._new_run(experiment, set_fields or (), options, runs)
                else:
                    self._refuse_others(experiment, set_fields, options)
                    to_run = self._resumed_run(resume)
                tag_run(to_run.directory, tag)
                kept = running(
                    self.method.command, to_run.directory, self.kept, self.worth_a_report, live
                )
                with kept, progress_on(stderr, live=not json) as progress:
                    result = self.run(
                        to_run.experiment, to_run.settings, to_run.directory, progress
                    )
            self._print(result, to_run.directory, json)
            self._end(result)

        shared = signature(command, eval_str=True)
        experiment, *others, _ = shared.parameters.values()
        parameters = [experiment, *self._own_options, *others]
        command.__signature__ = shared.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__doc__ = self.settings.__doc__
        return command

    @property
    def _own_options(self) -> tuple[Parameter, ...]:
        _, *options = signature(self.settings, eval_str=True).parameters.values()
        return tuple(options)

    def _new_run(
        self,
        path: Path | None,
        set_fields: Sequence[SetField],
        options: Mapping[str, object],
        runs: Path,
    ) -> _ToRun[S]:
        """A run that begins, in a directory of its own under `runs`."""
        if path is None:
            raise InputError(
                "name an experiment, or a run to resume",
                where=f"plimsoll {self.method.command}",
                remedy=self.example,
            )
        experiment = load_experiment(path, set_fields)
        check_returns(self.method, experiment)
        settings = self.settings(experiment, **options)
        name = f"{experiment.name}-{self.method.name}"
        return _ToRun(
            experiment, settings, RunDirectory.create(runs, name, experiment.normalised())
        )

    def _refuse_others(
        self,
        path: Path | None,
        set_fields: Sequence[SetField] | None,
        options: Mapping[str, object],
    ) -> None:
        """Raise InputError where a running run is given anything else."""
        defaults = {option.name: option.default for option in self._own_options}
        if path is not None or set_fields or options != defaults:
            raise InputError(
                "a resumed run keeps its own experiment and options",
                where="--resume",
                remedy="name nothing else, or start a new run",
            )

    def _resumed_run(self, resume: Path) -> _ToRun[S]:
        """Resume a run with the settings it began with. Raises InputError where it cannot."""
        directory = RunDirectory.open(resume)
        experiment = load_experiment(directory.experiment)
        settings = resumable(directory, self.method, experiment, self.model)
        return _ToRun(experiment, settings, directory)

    def _print(self, result: R, directory: RunDirectory, json: bool) -> None:
        """Write the report, and print the result for people or as JSON."""
        page = write_report(directory)
        if json:
            typer.echo(result.model_dump_json(indent=2))
            return
        self.show(result, directory)
        stdout.print(f"\nreport: {page}", soft_wrap=True, highlight=False)

    def _end(self, result: R) -> None:
        """With the verdict's exit code, and with another where a signal came first."""
        outcome = self.method.outcome(result)
        if not outcome.complete:
            raise typer.Exit(SIGNALLED)
        end_by(outcome.verdict)
