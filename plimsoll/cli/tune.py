"""`plimsoll tune`: a platform's intent, what it means, and whether it is so."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import tune_audit, tune_capture, tune_reference, tune_render
from plimsoll.cli.new_file import write_new_file
from plimsoll.cli.output import stdout
from plimsoll.tune.intent.intent_text import intent_text
from plimsoll.tune.intent.load import load_preset, preset_names
from plimsoll.tune.intent.proposal import propose_intent
from plimsoll.tune.intent.schema import intent_schema
from plimsoll.tune.intent.survey import survey_host

app = typer.Typer(
    name="tune",
    help="Say what a platform is to be, and find out whether it is.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


def add_to(parent: typer.Typer) -> None:
    """Register the command."""
    parent.add_typer(app)


@app.command(
    epilog="Examples: **plimsoll tune init -o intent.yaml** · "
    "**plimsoll tune init --preset openshift-sno-vdu**"
)
def init(
    preset: Annotated[
        str | None,
        typer.Option(
            help="The settings to start from; by default vm in a guest, else bare-metal.",
            autocompletion=lambda: list(preset_names()),
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write here, not to standard output.")
    ] = None,
    list_presets: Annotated[
        bool, typer.Option("--list-presets", help="Print the presets and end.")
    ] = False,
) -> None:
    """Propose an intent from this host: its CPUs, NUMA nodes, memory and ports.

    Reads only, and changes nothing. What it writes has comments, and loads back.
    """
    if list_presets:
        for name in preset_names():
            stdout.print(f"{name:24}{load_preset(name).description or ''}", highlight=False)
        return
    text = intent_text(propose_intent(survey_host(), preset))
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_new_file(output, text)


@app.command(epilog="Example: **plimsoll tune schema > tuning-intent.schema.json**")
def schema() -> None:
    """Print the JSON Schema of intents, for editors without the network."""
    typer.echo(intent_schema(), nl=False)


tune_render.add_to(app)
tune_audit.add_to(app)
tune_capture.add_to(app)
tune_reference.add_to(app)
