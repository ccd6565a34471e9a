"""What a run of an experiment would do, or all its mistakes, printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from plimsoll.benchmark.check.check import check_experiment
from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.errors import InputError, PlimsollError
from plimsoll.record.results.check_result import CheckResult
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.output import errors, stdout
from plimsoll.terminal.tables.check_summary import print_planned_run
from plimsoll.text.units import parse_duration


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
