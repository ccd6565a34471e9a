"""With which code a command ends; those of errors are in plimsoll/errors.py.

One rule for all commands: 0 passed or measured, 1 the DUT failed, 2 bad input, 3 the machine
lacks something, 4 the record, 5 the tester could not tell, 6 an export did not arrive, 7 a fault
in Plimsoll itself; 130 where a signal ended it.
"""

from __future__ import annotations

from collections.abc import Mapping

import typer

from plimsoll.errors import DUT_FAILED, TESTER_COULD_NOT_TELL
from plimsoll.record.trials.trial_record import Verdict

_BY_VERDICT: Mapping[Verdict, int] = {
    "pass": 0,
    # Of a method that measures and judges nothing.
    "none": 0,
    "fail": DUT_FAILED,
    "invalid": TESTER_COULD_NOT_TELL,
}


def end_by(verdict: Verdict) -> None:
    """End the command with the verdict's exit code, by typer.Exit unless that is 0."""
    if code := _BY_VERDICT[verdict]:
        raise typer.Exit(code)


def end_as(status: int) -> None:
    """End the command as another did, by typer.Exit unless that was well."""
    if status:
        raise typer.Exit(status)
