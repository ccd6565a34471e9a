"""`plimsoll matrix`: one experiment in many combinations of its fields."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.methods.matrix.course import RunNone
from plimsoll.methods.matrix.document import load_matrix
from plimsoll.methods.matrix.in_cluster import EndpointOption, run_jobs, store_of
from plimsoll.methods.matrix.jobs import NO_RECORD
from plimsoll.methods.matrix.many_runs import MatrixCommand
from plimsoll.methods.matrix.plan import begin_matrix
from plimsoll.methods.matrix.result import METHOD, MatrixResult
from plimsoll.methods.matrix.run import run_matrix
from plimsoll.methods.matrix.table import matrix_table
from plimsoll.terminal.commands.running import serving
from plimsoll.terminal.options.options import JsonOption, MetricsPortOption, RunsOption
from plimsoll.terminal.options.place_options import ImageOption, OnOption, chosen_place
from plimsoll.terminal.options.set_option import SetOption
from plimsoll.terminal.options.tags_option import TagsOption, tag_run
from plimsoll.terminal.output import stdout

_EPILOG = (
    "Examples: **plimsoll matrix sizes.yaml** · "
    "**plimsoll matrix --resume runs/20260101T120000-sizes** · "
    "**plimsoll matrix sizes.yaml --on kube://lab/bench --store s3://bench/plimsoll**"
)

_COMMAND = MatrixCommand(METHOD, "sizes.yaml", kept="finished samples are kept")


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
    on: OnOption = None,
    image: ImageOption = None,
    store: Annotated[
        str | None, typer.Option(help="With --on, where the records go: s3://bucket/prefix.")
    ] = None,
    endpoint: EndpointOption = None,
    store_secret: Annotated[
        str | None,
        typer.Option(help="With --on, a secret with AWS_ACCESS_KEY_ID and its kin, for the pods."),
    ] = None,
    queue: Annotated[
        str | None, typer.Option(help="With --on, Kueue's local queue, which starts the job.")
    ] = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """Find the load line for every combination of values, several times each.

    Every combination is checked before the first is run. One that ends with an error does
    not keep the others from being run, and --resume runs it again.

    Exits with 0 when every run found a load line; with the code of the first run that ended
    with an error; else with 1 when the DUT failed in one, with 5 when the tester could not tell.
    """
    fields = set_fields or ()
    with serving(metrics_port) as live:
        directory = _COMMAND.what_to_run(
            experiment, resume, fields, lambda path: begin_matrix(load_matrix(path, fields), runs)
        )
        tag_run(directory, tag)
        with _COMMAND.going_on(directory, live, json=json) as (progress, hooks):
            course = None
            if (place := chosen_place(on, resume)) is not None:
                job_store = store_of(store, endpoint, store_secret)
                run_jobs(place, directory, image, job_store, queue)
                course = RunNone(NO_RECORD)
            result = run_matrix(directory, progress, hooks.after, hooks.before, course)
    _COMMAND.hand_over(result, directory, partial(_show, result), json=json)


def _show(result: MatrixResult) -> None:
    stdout.print()
    stdout.print(matrix_table(result))
