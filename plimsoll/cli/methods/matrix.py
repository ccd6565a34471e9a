"""`plimsoll matrix`: one experiment in many combinations of its fields."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.benchmark.matrix.document import load_matrix
from plimsoll.benchmark.matrix.plan import begin_matrix, read_plan
from plimsoll.benchmark.matrix.run import SampleHooks, run_matrix
from plimsoll.cli.methods.progress import progress_on
from plimsoll.cli.methods.running import running, serving
from plimsoll.cli.options.options import JsonOption, MetricsPortOption, RunsOption
from plimsoll.cli.options.set_option import SetOption, refuse_set_fields
from plimsoll.cli.options.tags_option import TagsOption, tag_run
from plimsoll.cli.tables.matrix_table import matrix_table
from plimsoll.cli.terminal.exit_codes import end_by
from plimsoll.cli.terminal.output import stderr, stdout
from plimsoll.errors import InputError
from plimsoll.record.methods.matrix import MATRIX
from plimsoll.record.methods.method import Method
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.web.open_metrics import LiveMetrics

_EPILOG = (
    "Examples: **plimsoll matrix sizes.yaml** · "
    "**plimsoll matrix --resume runs/20260101T120000-sizes**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(matrix)


def matrix(
    experiment: Annotated[
        Path | None, typer.Argument(help="The experiment, with a matrix section (YAML).")
    ] = None,
    *,
    set_fields: SetOption = None,
    resume: Annotated[
        Path | None, typer.Option(help="Run what this matrix run has left or failed.")
    ] = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """Find the load line for every combination of values, several times each.

    Every combination is checked before the first is run. One that ends with an error does
    not keep the others from being run, and --resume runs it again.

    Exits with 0 when every run found a load line; with the code of the first run that ended
    with an error; else with 1 when the DUT failed in one, with 5 when the tester could not tell.
    """
    with serving(metrics_port) as live:
        directory = _what_to_run(experiment, set_fields or (), resume, runs)
        tag_run(directory, tag)
        with (
            running("matrix", directory, "finished samples are kept", None, live),
            progress_on(stderr, live=not json) as progress,
        ):
            hooks = sample_hooks(directory, live)
            result = run_matrix(directory, progress, hooks.after, hooks.before)
    page = write_report(directory)
    if json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        stdout.print()
        stdout.print(matrix_table(result))
        stdout.print(f"\nreport: {page}", soft_wrap=True, highlight=False)
    if result.error_code:
        raise typer.Exit(result.error_code)
    end_by(result.verdict)


def sample_hooks(directory: RunDirectory, live: LiveMetrics | None) -> SampleHooks:
    """Every sample of the run is served while it goes on, and has a page when it has its result."""
    return SampleHooks(partial(_show_sample, live, directory), _report_sample)


def matrix_to_resume(
    resume: Path, set_fields: Sequence[SetField], method: Method[Any] = MATRIX
) -> RunDirectory:
    """A run of the method whose plan can be read, and which is not changed.

    Raises PlimsollError.
    """
    refuse_set_fields(set_fields)
    directory = RunDirectory.open(resume)
    read_plan(directory, method)
    return directory


def _show_sample(live: LiveMetrics | None, matrix: RunDirectory, sample: RunDirectory) -> None:
    """Every sample is called sample-1, and so on: it is served by its place in the matrix."""
    if live is not None:
        place = sample.path.relative_to(matrix.path).as_posix()
        live.show(sample, f"{matrix.run_id}/{place}")


def _report_sample(sample: RunDirectory) -> None:
    """Write the page of a sample that has its result."""
    write_report(sample)


def _what_to_run(
    experiment: Path | None, set_fields: Sequence[SetField], resume: Path | None, runs: Path
) -> RunDirectory:
    if (experiment is None) == (resume is None):
        raise InputError(
            "name an experiment, or a matrix run to resume; one of the two",
            where="plimsoll matrix",
            remedy="plimsoll matrix sizes.yaml, or plimsoll matrix --resume runs/<id>",
        )
    if resume is not None:
        return matrix_to_resume(resume, set_fields)
    assert experiment is not None  # noqa: S101 - one of the two is given
    return begin_matrix(load_matrix(experiment, set_fields), runs)
