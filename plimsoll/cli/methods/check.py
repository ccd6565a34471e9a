"""`plimsoll check`: an experiment's mistakes, all at once, or what a run of it would do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.benchmark.check.check import check_experiment
from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.errors import InputError, PlimsollError
from plimsoll.record.results.check_result import CheckResult
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.options.set_option import SetOption
from plimsoll.terminal.output import errors, stdout
from plimsoll.terminal.tables.check_summary import print_planned_run
from plimsoll.text.units import parse_duration

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
    """Tell all mistakes of an experiment at once; without any, what plimsoll run would do.

    That is its frames, rates, CPUs, phases and how long it may take. Nothing is started,
    reserved or written.

    Exits with 0 when a run could begin, with 2 when the experiment has mistakes, with 3 when
    only the machine lacks something.
    """
    check_and_show(experiment, set_fields or (), validation, json)


def check_and_show(
    experiment: Path, set_fields: Sequence[SetField], validation: str | None, json: bool
) -> None:
    """Check the experiment and print what was found; ends with its exit code."""
    validation_s = None
    if validation is not None:
        validation_s = parse_option("--validation", parse_duration, validation)
    result = check_experiment(experiment, set_fields, validation_s)
    if json:
        typer.echo(result.model_dump_json(indent=2))
    elif result.run is not None:
        print_planned_run(result.run, stdout)
    else:
        _print_mistakes(result)
    if result.mistakes:
        raise typer.Exit(_exit_code(result))


def _print_mistakes(result: CheckResult) -> None:
    for each in result.mistakes:
        errors.print_error(PlimsollError(each.message, where=each.where, remedy=each.remedy))


def _exit_code(result: CheckResult) -> int:
    """Bad input before what the machine lacks, as that may be about the wrong input."""
    codes = [each.exit_code for each in result.mistakes]
    return InputError.exit_code if InputError.exit_code in codes else codes[0]
