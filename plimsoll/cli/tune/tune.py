"""`plimsoll tune`: a platform's intent, what it means, and whether it is so."""

from __future__ import annotations

import typer

from plimsoll.cli.tune import (
    audit as tune_audit,
)
from plimsoll.cli.tune import (
    capture as tune_capture,
)
from plimsoll.cli.tune import (
    init as tune_init,
)
from plimsoll.cli.tune import (
    reference as tune_reference,
)
from plimsoll.cli.tune import (
    render as tune_render,
)
from plimsoll.terminal.suggesting_group import SuggestingGroup
from plimsoll.tune.intent.load import intent_schema

app = typer.Typer(
    name="tune",
    cls=SuggestingGroup,
    help="Describe how a host should be tuned, generate its configuration, audit it.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


def add_to(parent: typer.Typer) -> None:
    """Register the command."""
    parent.add_typer(app)


tune_init.add_to(app)


@app.command(epilog="Example: **plimsoll tune schema > tuning-intent.schema.json**")
def schema() -> None:
    """Print the JSON Schema of intents, for editors without the network."""
    typer.echo(intent_schema(), nl=False)


tune_render.add_to(app)
tune_audit.add_to(app)
tune_capture.add_to(app)
tune_reference.add_to(app)
