"""What commands share whose run is a matrix: `matrix`, `noisy`, `plugfest`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import typer
from pydantic import BaseModel

from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.benchmark.session.session import ProgressListener
from plimsoll.errors import InputError
from plimsoll.methods.matrix.plan import read_plan
from plimsoll.methods.matrix.run import SampleHooks
from plimsoll.record.methods.method import Method
from plimsoll.record.run.journal import JournalContents
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.report import write_report
from plimsoll.terminal.commands.running import progress_on, running
from plimsoll.terminal.exit_codes import end_by
from plimsoll.terminal.options.options import refuse_set_fields
from plimsoll.terminal.output import stderr, stdout

if TYPE_CHECKING:
    from plimsoll.web.open_metrics import LiveMetrics


class MatrixOutcome(Protocol):
    """What such a command's result says of its end."""

    @property
    def error_code(self) -> int | None:
        """That of the first run that ended with an error; None without one."""

    @property
    def verdict(self) -> Verdict:
        """Of all runs together."""

    def model_dump_json(self, *, indent: int) -> str:
        """In full."""


R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class MatrixCommand(Generic[R]):
    """`plimsoll <command>` of a method upon a matrix.

    `example` is what its experiment is called where a remedy names one. `kept` is what stays of
    a run that is cut short, which gets a report where its journal holds what is `worth_a_report`.
    """

    method: Method[R]
    example: str
    kept: str
    worth_a_report: Callable[[JournalContents], object] | None = None

    def what_to_run(
        self,
        experiment: Path | None,
        resume: Path | None,
        set_fields: Sequence[SetField],
        begin: Callable[[Path], RunDirectory],
    ) -> RunDirectory:
        """A new run, which `begin` prepares, or one that goes on unchanged.

        Raises PlimsollError for neither or both, and for a run whose plan cannot be read.
        """
        if experiment is not None and resume is None:
            return begin(experiment)
        if resume is None or experiment is not None:
            command = f"plimsoll {self.method.command}"
            raise InputError(
                "name an experiment, or a run to resume; one of the two",
                where=command,
                remedy=f"{command} {self.example}, or {command} --resume runs/<id>",
            )
        refuse_set_fields(set_fields)
        directory = RunDirectory.open(resume)
        read_plan(directory, self.method)
        return directory

    @contextmanager
    def going_on(
        self, directory: RunDirectory, live: LiveMetrics | None, *, json: bool
    ) -> Iterator[tuple[ProgressListener, SampleHooks]]:
        """Show the run while it goes on, each of its runs by its place in it.

        Each has a page once it has its result.
        """
        hooks = SampleHooks(partial(_show_sample, live, directory), _report_sample)
        with (
            running(self.method.command, directory, self.kept, self.worth_a_report, live),
            progress_on(stderr, live=not json) as progress,
        ):
            yield progress, hooks

    def hand_over(
        self,
        result: MatrixOutcome,
        directory: RunDirectory,
        show: Callable[[], None],
        *,
        json: bool,
    ) -> None:
        """Write the page, print the result as JSON or `show` it, and exit with its code."""
        page = write_report(directory)
        if json:
            typer.echo(result.model_dump_json(indent=2))
        else:
            show()
            stdout.print(f"\nreport: {page}", soft_wrap=True, highlight=False)
        if result.error_code:
            raise typer.Exit(result.error_code)
        end_by(result.verdict)


def _show_sample(live: LiveMetrics | None, matrix: RunDirectory, sample: RunDirectory) -> None:
    """Every sample is called sample-1, and so on: it is served by its place in the matrix."""
    if live is not None:
        place = sample.path.relative_to(matrix.path).as_posix()
        live.show(sample, f"{matrix.run_id}/{place}")


def _report_sample(sample: RunDirectory) -> None:
    write_report(sample)
