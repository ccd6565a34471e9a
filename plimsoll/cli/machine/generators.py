"""`plimsoll generators`: who can send, what each measures, and what is missing."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from plimsoll.generator.registry.generators import GENERATORS, GeneratorListing, generator_listings
from plimsoll.terminal.output import errors, stdout, wide_stdout

_TABLE_WIDTH = 120


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    epilog = "Examples: **plimsoll generators** · **plimsoll generators --json**"
    app.command(epilog=epilog)(generators)


def generators(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List who can send: what each sends and measures, and what this machine lacks for it.

    Needs no root and starts nothing. Use one in an experiment as `generator: {kind: NAME}`.
    """
    found = generator_listings()
    for error in GENERATORS.unloadable().values():
        errors.print_error(error)
    if json:
        text = [each.model_dump(mode="json") for each in found]
        typer.echo(json_text.dumps(text, indent=2))
        return
    wide_stdout(_TABLE_WIDTH).print(_table(found))
    for each in found:
        ready = "" if each.lacking else " is ready"
        stdout.print()
        stdout.print(Text.assemble((each.kind, "bold"), f"{ready}: {each.summary}"))
        for lack in each.lacking:
            stdout.print(f"  {lack}", soft_wrap=True, highlight=False)


def _table(found: tuple[GeneratorListing, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("generator", "pacing", "streams", "latency of", "tells from losses"):
        table.add_column(name)
    for each in found:
        timed = [role for role, is_timed in _timed(each) if is_timed]
        table.add_row(
            each.kind,
            ", ".join(each.pacings),
            str(each.most_streams),
            ", ".join(timed) or "-",
            ", ".join(each.faults) or "-",
        )
    return table


def _timed(each: GeneratorListing) -> tuple[tuple[str, bool], ...]:
    return (("probes", each.latency), ("load", each.load_latency))
