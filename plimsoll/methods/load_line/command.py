"""`plimsoll run`: search for the load line, validate it, record and report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.experiment.reading_interval import check_search_readings
from plimsoll.benchmark.experiment.set_field import SetField, parse_set_field
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.cluster.pods.cluster_client import ClusterClient, ClusterPlace
from plimsoll.cluster.pods.pod_plan import IMAGE_VARIABLE, plan_pods
from plimsoll.cluster.pods.run_in_cluster import ClusterRun
from plimsoll.errors import InputError
from plimsoll.methods.load_line.run import check_resume, find_load_line
from plimsoll.methods.load_line.terminal_summary import print_result
from plimsoll.record.results.result import Result, read_result
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.terminal.commands.checking import check_and_show
from plimsoll.terminal.commands.running import progress_on, running, serving
from plimsoll.terminal.exit_codes import end_as, end_by
from plimsoll.terminal.options.options import (
    ExperimentArgument,
    JsonOption,
    MetricsPortOption,
    RunsOption,
    SetOption,
    TagsOption,
    parse_option,
    refuse_set_fields,
    tag_run,
)
from plimsoll.terminal.options.place_options import ImageOption, OnOption, chosen_place
from plimsoll.terminal.output import labelled, say, stderr, stdout
from plimsoll.text.units import parse_duration

_EPILOG = (
    "Examples: **plimsoll run examples/demo.yaml** · "
    "**plimsoll run experiment.yaml --validation 3h --set search.maximum=2Mpps** · "
    "**plimsoll run experiment.yaml --dry-run** · "
    "**plimsoll run experiment.yaml --on kube://lab/bench --image registry/plimsoll:0.1.0** · "
    "**plimsoll run --resume runs/20260101T120000-demo**"
)

_DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Only say what it would do, as plimsoll check.")
]
_ResumeOption = Annotated[
    Path | None, typer.Option(help="Resume this run directory after its last trial.")
]
_ValidationOption = Annotated[
    str | None, typer.Option(help="Validate for this long instead, such as 60s or 3h.")
]
_BudgetOption = Annotated[
    str | None, typer.Option(help="Search for no longer than this, such as 6h (load-line).")
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(run)


def run(
    experiment: ExperimentArgument = None,
    *,
    set_fields: SetOption = None,
    dry_run: _DryRunOption = False,
    resume: _ResumeOption = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    validation: _ValidationOption = None,
    budget: _BudgetOption = None,
    on: OnOption = None,
    image: ImageOption = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """Find the load line: search, validate, record, report.

    Exits with 0 if a load passed search and validation, with 1 if the DUT carried no load, with 5
    if the result is inconclusive because of the tester.
    """
    _check_one_of(experiment, resume)
    fields = _with_budget(set_fields, budget)
    if dry_run:
        _only_check(experiment, fields, validation, json)
        return
    place = chosen_place(on, resume)

    def begun() -> tuple[Experiment, RunDirectory]:
        if experiment is None:
            found = _old_run(resume, fields, validation)
        else:
            found = _new_run(experiment, fields, runs, validation, elsewhere=place is not None)
        tag_run(found[1], tag)
        return found

    if place is not None:
        _run_elsewhere(place, *begun(), image, json)
        return
    with serving(metrics_port) as live:
        chosen, directory = begun()
        kept = running("run", directory, "finished trials are kept", JournalContents.trials, live)
        with kept, progress_on(stderr, live=not json) as progress:
            result = find_load_line(chosen, directory, progress)
    _print(result, directory, write_report(directory), stdout, json)
    end_by(result.verdict)


def _run_elsewhere(
    place: ClusterPlace,
    experiment: Experiment,
    directory: RunDirectory,
    image: str | None,
    json: bool,
) -> None:
    result, status = run_in_cluster(place, experiment, directory, image)
    if result is not None:
        _print(result, directory, write_report(directory), stdout, json)
    end_as(status)


def _with_budget(
    set_fields: Sequence[SetField] | None, budget: str | None
) -> Sequence[SetField] | None:
    """The option is a field of the experiment by a shorter name."""
    if budget is None:
        return set_fields
    return (*(set_fields or ()), parse_set_field(f"search.budget={budget}"))


def _check_one_of(experiment: Path | None, resume: Path | None) -> None:
    if (experiment is None) == (resume is None):
        raise InputError(
            "name an experiment, or a run to resume; one of the two",
            where="plimsoll run",
            remedy="plimsoll run examples/demo.yaml, or plimsoll run --resume runs/<id>",
        )


def _only_check(
    experiment: Path | None,
    set_fields: Sequence[SetField] | None,
    validation: str | None,
    json: bool,
) -> None:
    if experiment is None:
        raise InputError(
            "a resumed run was checked when it began",
            where="--dry-run",
            remedy="leave it out, or name an experiment",
        )
    check_and_show(experiment, set_fields or (), validation, json)


def _old_run(
    resume: Path | None, set_fields: Sequence[SetField] | None, validation: str | None
) -> tuple[Experiment, RunDirectory]:
    refuse_set_fields(set_fields)
    if validation is not None:
        raise InputError(
            "a resumed run keeps its own validation",
            where="--validation",
            remedy="leave it out, or start a new run",
        )
    assert resume is not None  # noqa: S101 - one of the two is given
    directory = RunDirectory.open(resume)
    chosen = load_experiment(directory.experiment)
    check_resume(chosen, directory)
    return chosen, directory


def _new_run(
    experiment: Path,
    set_fields: Sequence[SetField] | None,
    runs: Path,
    validation: str | None,
    *,
    elsewhere: bool = False,
) -> tuple[Experiment, RunDirectory]:
    """A run that begins; what this machine lacks for it is no matter for one `elsewhere`."""
    chosen = load_experiment(experiment, set_fields or ())
    if validation is not None:
        chosen = chosen.validated_for(parse_option("--validation", parse_duration, validation))
    if not elsewhere:
        check_search(chosen)
        check_search_readings(chosen)
    return chosen, RunDirectory.create(runs, chosen.name, chosen.normalised())


def _print(
    result: Result, directory: RunDirectory, page: Path, console: Console, json: bool
) -> None:
    if json:
        typer.echo(result.model_dump_json(indent=2))
        return
    print_result(result, read_journal(directory.journal).trials(), console)
    console.print(f"\nreport: {page}", soft_wrap=True, highlight=False)


# `plimsoll run --on kube://…`: the run in a pod, its record and its words here.
def run_in_cluster(
    place: ClusterPlace, experiment: Experiment, directory: RunDirectory, image: str | None
) -> tuple[Result | None, int]:
    """Its result, where it has one, and its exit status. Raises PlimsollError."""
    stderr.print(labelled("run:", directory.path), soft_wrap=True)
    client = ClusterClient.connect(place)
    chosen = image or os.environ.get(IMAGE_VARIABLE)
    plan = plan_pods(experiment, chosen, hugepages=experiment.require_hugepages)
    status = ClusterRun(client, directory, experiment, say).execute(plan)
    return read_result(directory), status
