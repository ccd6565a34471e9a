"""`plimsoll matrix`: one experiment in many combinations of its fields."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from plimsoll.cluster.pods.cluster_client import ClusterClient, ClusterPlace
from plimsoll.cluster.pods.pod_plan import IMAGE_VARIABLE, plan_pods
from plimsoll.errors import InputError
from plimsoll.export.object_store import Bucket
from plimsoll.methods.matrix.document import load_matrix
from plimsoll.methods.matrix.jobs import NO_RECORD, JobStore, MatrixJobs, read_experiment_of
from plimsoll.methods.matrix.many_runs import MatrixCommand
from plimsoll.methods.matrix.page import load_lines_table, matrix_lines
from plimsoll.methods.matrix.plan import begin_matrix
from plimsoll.methods.matrix.result import METHOD, MatrixResult
from plimsoll.methods.matrix.run import RunNone, run_matrix
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.commands.running import serving
from plimsoll.terminal.options.options import (
    JsonOption,
    MetricsPortOption,
    RunsOption,
    SetOption,
    TagsOption,
    tag_run,
)
from plimsoll.terminal.options.place_options import ImageOption, OnOption, chosen_place
from plimsoll.terminal.output import say, stdout

_EPILOG = (
    "Examples: **plimsoll matrix sizes.yaml** · "
    "**plimsoll matrix --resume runs/20260101T120000-sizes** · "
    "**plimsoll matrix sizes.yaml --on kube://lab/bench --store s3://bench/plimsoll**"
)
_COMMAND = MatrixCommand(METHOD, "sizes.yaml", kept="finished samples are kept")
EndpointOption = Annotated[
    str | None, typer.Option(help="The store's URL; by default AWS_ENDPOINT_URL's.")
]

_ExperimentArgument = Annotated[
    Path | None, typer.Argument(help="The experiment, with a matrix section (YAML).")
]
_ResumeOption = Annotated[
    Path | None, typer.Option(help="Run what this matrix run has left or failed.")
]
_StoreOption = Annotated[
    str | None, typer.Option(help="With --on, where the records go: s3://bucket/prefix.")
]
_StoreSecretOption = Annotated[
    str | None,
    typer.Option(help="With --on, a secret with AWS_ACCESS_KEY_ID and its kin, for the pods."),
]
_QueueOption = Annotated[
    str | None, typer.Option(help="With --on, Kueue's local queue, which starts the job.")
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(matrix)


def matrix(
    experiment: _ExperimentArgument = None,
    *,
    set_fields: SetOption = None,
    resume: _ResumeOption = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    on: OnOption = None,
    image: ImageOption = None,
    store: _StoreOption = None,
    endpoint: EndpointOption = None,
    store_secret: _StoreSecretOption = None,
    queue: _QueueOption = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """Find the load line for every combination of values, several times each.

    Every combination is checked before the first is run. One that ends with an error does
    not keep the others from being run, and --resume runs it again.

    Exits with 0 if every run found a load line; with the code of the first run that ended with an
    error; else with 1 if the DUT failed in a run, with 5 if a run is inconclusive because of the
    tester.
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


# `plimsoll matrix --on kube://…`: the samples as a job, their records through a store.
def store_of(url: str | None, endpoint: str | None, secret: str | None) -> JobStore:
    """Where records go. Raises InputError."""
    if url is None:
        raise InputError(
            "the samples' records need a place that their pods and this machine reach",
            where="--store",
            remedy="write --store s3://bucket/prefix",
        )
    return JobStore(Bucket.of(url, endpoint), url, secret)


def run_jobs(
    place: ClusterPlace,
    directory: RunDirectory,
    image: str | None,
    store: JobStore,
    queue: str | None,
) -> None:
    """Run the samples that have no result, and bring the records of all. Raises PlimsollError."""
    first = read_experiment_of(directory)
    chosen = image or os.environ.get(IMAGE_VARIABLE)
    plan = plan_pods(first, chosen, hugepages=first.require_hugepages)
    MatrixJobs(ClusterClient.connect(place), directory, store, say).execute(plan, queue)


# The result of a matrix as a table: a row an iteration, a column a parameter that varies.
def matrix_table(result: MatrixResult) -> Table:
    """Mean, least and greatest load line of each iteration's samples, and what went wrong.

    What has the same value in every iteration stands below the table.
    """
    lines = matrix_lines(result)
    common = ", ".join(f"{path} = {value}" for path, value in lines.common)
    # As Text: what is in brackets is not markup.
    table = Table(
        title=Text(f"{result.name}: load lines per direction"),
        title_justify="left",
        caption=Text(f"in all: {common}") if common else None,
        caption_justify="left",
    )
    shown = load_lines_table(lines)
    for column in shown.shown_columns:
        table.add_column(Text(column.heading), justify="right" if column.number else "left")
    for _, cells in shown.shown_rows:
        table.add_row(*(Text(cell.text) for cell in cells))
    return table
