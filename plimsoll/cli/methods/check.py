"""`plimsoll check`: an experiment's mistakes, all at once, or what a run of it would do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.terminal.commands.checking import check_and_show
from plimsoll.terminal.options.options import SetOption

_EPILOG = (
    "Examples: **plimsoll check experiment.yaml** · "
    "**plimsoll check experiment.yaml --set search.maximum=2Mpps** · "
    "**plimsoll check experiment.yaml --json**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(check)


def check(
    experiment: Annotated[Path, typer.Argument(help="The experiment (YAML).")],
    *,
    set_fields: SetOption = None,
    validation: Annotated[
        str | None, typer.Option(help="Validate for this long instead, such as 60s or 3h.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Report every mistake in an experiment; without any, what plimsoll run would do.

    That is its frames, rates, CPUs, phases and how long it may take. Nothing is started,
    reserved or written.

    Exits with 0 if a run could start, with 2 if the experiment has mistakes, with 3 if only the
    machine lacks something.
    """
    check_and_show(experiment, set_fields or (), validation, json)
