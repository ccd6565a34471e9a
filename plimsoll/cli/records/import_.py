"""`plimsoll import`: what other tools test with, as experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.benchmark.trafficgen.experiment import import_command
from plimsoll.benchmark.trafficgen.trex_config import load_trex_config
from plimsoll.cli.terminal.new_file import write_new_file
from plimsoll.cli.terminal.output import stderr
from plimsoll.cli.terminal.suggesting_group import SuggestingGroup

_EPILOG = (
    "Example: **plimsoll import trafficgen --output experiment.yaml -- binary-search.py "
    "--traffic-generator trex-txrx-profile --traffic-profile trafficgen.profile --rate-unit % "
    "--rate 60**"
)
_group = typer.Typer(
    name="import",
    cls=SuggestingGroup,
    help="Write experiments that do what other tools' command lines do.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.add_typer(_group)


@_group.callback()
def _group_of_importers() -> None:
    """Typer's sign that a group stays one, however few commands it has."""


@_group.command(epilog=_EPILOG)
def trafficgen(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND", help="The binary-search.py command line, after two dashes."
        ),
    ],
    profile: Annotated[
        Path | None, typer.Option(help="The traffic profile, where --traffic-profile is not it.")
    ] = None,
    trex_cfg: Annotated[
        Path | None,
        typer.Option(help="TRex's trex_cfg.yaml, for the devices behind --device-pairs."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The experiment's name; by default the profile's.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write here, and not to standard output.")
    ] = None,
) -> None:
    """Write the experiment that does what a command line of bench-trafficgen does.

    Options that it does not have are errors; those without a counterpart are named on
    standard error and in the experiment's comments.
    """
    trex = load_trex_config(trex_cfg) if trex_cfg else None
    imported = import_command(command, profile_path=profile, trex=trex, name=name)
    for notice in imported.notices:
        stderr.print(f"note: {notice}", soft_wrap=True, highlight=False, markup=False)
    if output is None:
        typer.echo(imported.text, nl=False)
    else:
        write_new_file(output, imported.text)
