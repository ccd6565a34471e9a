"""`plimsoll tune reference`: an intent as what kube-compare compares clusters with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.terminal.output import stdout
from plimsoll.text.plain_text import plain_text
from plimsoll.tune.cluster.reference import METADATA, reference
from plimsoll.tune.intent.load import load_intent, preset_names
from plimsoll.tune.render.files.output_folder import write_files


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        name="reference",
        epilog="Example: **plimsoll tune reference intent.yaml -o reference/**, then "
        "**oc cluster-compare -r reference/metadata.yaml**",
    )(write_reference)


def write_reference(
    intent: Annotated[
        str,
        typer.Argument(
            metavar="INTENT",
            help="The intent's file, or a preset.",
            autocompletion=lambda: list(preset_names()),
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write into.")],
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files that are not an earlier reference's.")
    ] = False,
) -> None:
    """Write a reference for kube-compare (oc cluster-compare): metadata.yaml and templates.

    It asks of a cluster what `plimsoll tune render` would apply, as far as the intent says.
    """
    written = write_files(output, reference(load_intent(intent)), force=force)
    stdout.print(
        plain_text(
            f"{len(written.paths)} files in {output}: oc cluster-compare -r {output / METADATA}"
        ),
        soft_wrap=True,
        highlight=False,
    )
