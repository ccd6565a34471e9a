"""`plimsoll import`: bundled runs, and what other tools test with, as experiments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.benchmark.trafficgen.experiment import import_command
from plimsoll.benchmark.trafficgen.trex_config import load_trex_config
from plimsoll.export.bundle.unpack import import_bundle
from plimsoll.terminal.options.run_choice import RunsFolderOption
from plimsoll.terminal.output import stderr, stdout, write_new_file
from plimsoll.terminal.suggesting_group import SuggestingGroup, renamed
from plimsoll.terminal.tables.runs_table import shown

_EPILOG = (
    "Example: **plimsoll import trafficgen --output experiment.yaml -- binary-search.py "
    "--traffic-generator trex-txrx-profile --traffic-profile trafficgen.profile --rate-unit % "
    "--rate 60**"
)
_BUNDLE = "bundle"


class _BundleByDefault(SuggestingGroup):
    """Takes `plimsoll import demo.tar.gz`, as the last version had it, for one more."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As the group's own, with the command put in where a file is named."""
        known = self.list_commands(ctx)
        bare = not any(each in known for each in args)
        file = any(os.sep in each or "." in each for each in args if not each.startswith("-"))
        # While the shell completes, nothing may stand where a command may still come.
        if bare and file and not ctx.resilient_parsing:
            renamed("plimsoll import FILE", "plimsoll import bundle FILE")
            args = [_BUNDLE, *args]
        return super().parse_args(ctx, args)


_group = typer.Typer(
    name="import",
    cls=_BundleByDefault,
    help="Import a run that plimsoll export has bundled, or write experiments that do what other "
    "tools' command lines do.",
    epilog="Examples: **plimsoll import bundle 20260101T120000-demo.plimsoll.tar.gz** · "
    "**plimsoll import trafficgen --output experiment.yaml -- binary-search.py --rate 60 …**",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.add_typer(_group)


@_group.callback()
def _group_of_importers() -> None:
    """Typer's sign that a group stays one, however few commands it has."""


@_group.command(epilog="Example: **plimsoll import bundle 20260101T120000-demo.plimsoll.tar.gz**")
def bundle(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The archive.")],
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Make a run directory of an archive that plimsoll export has bundled.

    Every file is compared with the archive's list and with the run's own checksums. Where
    anything is not right, nothing is imported.
    """
    run, manifest = import_bundle(file, runs)
    if manifest.redacted:
        stderr.print("note: names and addresses in it are stand-ins", soft_wrap=True)
    stdout.print(shown(str(run.path)), soft_wrap=True, highlight=False)


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
        stderr.print(f"note: {notice}", soft_wrap=True, highlight=False)
    if output is None:
        typer.echo(imported.text, nl=False)
    else:
        write_new_file(output, imported.text)
