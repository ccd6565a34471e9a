"""`plimsoll churn`: streams over several networks while a cluster is churned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.churn.page import churn_answer
from plimsoll.churn.result import METHOD
from plimsoll.churn.run import begin_churn, run_churn
from plimsoll.churn.settings import load_churn
from plimsoll.errors import InputError
from plimsoll.record.run.journal import RUN_STARTED, JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.terminal.commands.running import running
from plimsoll.terminal.exit_codes import end_by
from plimsoll.terminal.options.options import (
    JsonOption,
    RunsOption,
    SetOption,
    TagsOption,
    refuse_set_fields,
    tag_run,
)
from plimsoll.terminal.output import say, stdout
from plimsoll.terminal.tables.figure_table import print_sections

_EPILOG = (
    "Examples: **plimsoll churn churn.yaml** · **plimsoll churn --resume "
    "runs/20260101T120000-churn** · a cluster of one's own: **cluster: {kind: own}**, another: "
    "**cluster: {kind: kubeconfig}**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(churn)


def churn(
    experiment: Annotated[Path | None, typer.Argument(help="The churn experiment (YAML).")] = None,
    *,
    set_fields: SetOption = None,
    resume: Annotated[
        Path | None, typer.Option(help="Run the cells that this run has left.")
    ] = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    json: JsonOption = False,
) -> None:
    """Delete and make namespaces of a cluster anew, and see what that does to streams.

    Every network is measured at every level of churn: throughput and its dips, which of them
    fall together with churn, and what pods, API server and etcd took.

    Exits with 1 if a criterion was broken or a phase took too long, with 5 if something that is
    judged was not measured, else with 0.
    """
    directory = _what_to_run(experiment, set_fields or (), resume, runs)
    tag_run(directory, tag)
    with running(METHOD.command, directory, "finished cells are kept", _began):
        result = run_churn(directory, say)
    page = write_report(directory)
    if json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        print_sections(churn_answer(directory), stdout)
        stdout.print(f"\nreport: {page}", soft_wrap=True, highlight=False)
    end_by(result.verdict)


def _began(journal: JournalContents) -> bool:
    return bool(journal.events)


def _what_to_run(
    experiment: Path | None, set_fields: Sequence[SetField], resume: Path | None, runs: Path
) -> RunDirectory:
    if (experiment is None) == (resume is None):
        raise InputError(
            "name an experiment, or a run to resume; one of the two",
            where="plimsoll churn",
            remedy="plimsoll churn churn.yaml, or plimsoll churn --resume runs/<id>",
        )
    if resume is not None:
        refuse_set_fields(set_fields)
        return _to_resume(RunDirectory.open(resume))
    assert experiment is not None  # noqa: S101 - one of the two is given
    return begin_churn(load_churn(experiment, set_fields), runs)


def _to_resume(run: RunDirectory) -> RunDirectory:
    started = next(iter(read_journal(run.journal).of_kind(RUN_STARTED)), None)
    method = None if started is None else started.fields.get("method")
    if method not in (None, METHOD.name):
        raise InputError(
            f"this is a run of another kind ({method})",
            where=str(run.path),
            remedy="name a directory that plimsoll churn has made",
        )
    return run
