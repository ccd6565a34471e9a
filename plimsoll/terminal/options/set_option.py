"""`--set`, an option of every command that takes an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from plimsoll.benchmark.experiment.set_field import OPTION, SetField, parse_set_field
from plimsoll.errors import InputError

SetOption = Annotated[
    list[SetField] | None,
    typer.Option(
        OPTION,
        parser=parse_set_field,
        metavar="FIELD=VALUE",
        help="Give a field of the experiment another value, written as in the file: "
        "search.maximum=2Mpps, criteria.0.at_most=1e-5; may be repeated.",
    ),
]


def refuse_set_fields(set_fields: Sequence[SetField] | None) -> None:
    """Raise InputError where fields are set of a run that goes on, which keeps its experiment."""
    for each in set_fields or ():
        raise InputError(
            "a resumed run keeps its own experiment",
            where=each.place,
            remedy="leave it out, or start a new run",
        )
