"""Options that several commands have, and reading option values that have units."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from plimsoll.errors import InputError
from plimsoll.web.endpoint import ListenEndpoint, parse_endpoint

T = TypeVar("T")

ExperimentArgument = Annotated[
    Path | None, typer.Argument(help="The experiment (YAML); not with --resume.")
]
RunsOption = Annotated[Path, typer.Option(help="Where run directories are made.")]
MetricsPortOption = Annotated[
    ListenEndpoint | None,
    typer.Option(
        "--metrics-port",
        parser=parse_endpoint,
        metavar="[ADDRESS:]PORT",
        help="Serve live values as OpenMetrics during the run, by default on the loopback.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def parse_option(option: str, parse: Callable[[str], T], text: str) -> T:
    """The option's value; its InputError names the option."""
    try:
        return parse(text)
    except InputError as error:
        raise InputError(error.message, where=option, remedy=error.remedy) from None
