"""`plimsoll serve`: runs in a browser, or our engine to other tools' clients."""

from __future__ import annotations

import typer

from plimsoll.cli.serve import otg, trex, web
from plimsoll.terminal.suggesting_group import DefaultGroup


class _WebByDefault(DefaultGroup):
    default = "web"


def add_to(parent: typer.Typer) -> None:
    """Register the commands."""
    app = typer.Typer(
        name="serve",
        cls=_WebByDefault,
        help="Serve runs to a browser, or our engine to other tools' clients. Without a command "
        "it is `web`, whose options `plimsoll serve web --help` lists.",
        epilog="Examples: **plimsoll serve** · **plimsoll serve --listen 9000** · "
        "**plimsoll serve otg examples/demo.yaml** · **plimsoll serve trex examples/demo.yaml**",
        rich_markup_mode="markdown",
    )
    for each in (web, otg, trex):
        each.add_to(app)
    parent.add_typer(app)
