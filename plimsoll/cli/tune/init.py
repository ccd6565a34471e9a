"""`plimsoll tune init`: a proposed intent, and the schema that editors complete it from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.terminal.options.bmc_options import HostOption, RootOption, chosen_host
from plimsoll.terminal.output import stderr, stdout, write_new_file
from plimsoll.text.plain_text import plain_text
from plimsoll.tune.intent.load import SCHEMA_FILE, intent_schema, load_preset, preset_names
from plimsoll.tune.proposal.intent_text import intent_text
from plimsoll.tune.proposal.proposal import propose_intent
from plimsoll.tune.proposal.survey import survey_host


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        epilog="Examples: **plimsoll tune init -o intent.yaml** · "
        "**plimsoll tune init --preset openshift-sno-vdu** · "
        "**plimsoll tune init --root host.tar.gz -o intent.yaml**"
    )(init)


def init(
    preset: Annotated[
        str | None,
        typer.Option(
            help="The settings to start from; by default vm in a guest, else bare-metal.",
            autocompletion=lambda: list(preset_names()),
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Write here instead of standard output, with the schema for editors next to it.",
        ),
    ] = None,
    root: RootOption = None,
    host: HostOption = None,
    list_presets: Annotated[
        bool, typer.Option("--list-presets", help="Print the presets and end.")
    ] = False,
) -> None:
    """Propose an intent from a host: its CPUs, NUMA nodes, memory and ports.

    Reads only, and changes nothing. What it writes has comments, and loads back.
    """
    if list_presets:
        for name in preset_names():
            stdout.print(f"{name:24}{load_preset(name).description or ''}", highlight=False)
        return
    live = root is None and host is None
    survey = survey_host(chosen_host(root, host), os.environ if live else None)
    proposal = propose_intent(survey, preset)
    if output is None:
        typer.echo(intent_text(proposal), nl=False)
        return
    write_new_file(output, intent_text(proposal, schema=SCHEMA_FILE))
    _put_schema(output.parent / SCHEMA_FILE)


def _put_schema(path: Path) -> None:
    """Next to the intent, which names it. An existing file stays."""
    if not os.path.lexists(path):
        write_new_file(path, intent_schema())
    elif not _is_the_schema(path):
        stderr.print(
            plain_text(
                f"warning: {path} is not this version's, and stays; for completion in editors "
                f"remove it, then plimsoll tune schema > {path}"
            ),
            soft_wrap=True,
            highlight=False,
        )


def _is_the_schema(path: Path) -> bool:
    try:
        return path.is_file() and path.read_bytes() == intent_schema().encode()
    except OSError:
        return False
