"""The command of a method: the method's folder has it, be it ours or another distribution's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from plimsoll.errors import MachineError
from plimsoll.record.methods.folders import part_of

AddTo = Callable[[typer.Typer], None]

_ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}


@cache
def method_command(method: str) -> TyperCommand | TyperGroup:
    """That of the method. Raises KeyError where there is no such method."""
    return made_by(_add_to(method))


def made_by(add_to: AddTo) -> TyperCommand | TyperGroup:
    """The one command that it registers."""
    app = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
    add_to(app)
    (command,) = get_group(app).commands.values()
    return cast(TyperCommand | TyperGroup, command)


def _add_to(method: str) -> AddTo:
    try:
        add_to: AddTo = part_of(method, "command")
    except MachineError as error:
        return _unloadable(method, error)
    return add_to


def _unloadable(name: str, error: MachineError) -> AddTo:
    """In place of another distribution's command: it is listed, and says why it cannot run."""

    def command() -> None:
        raise error

    def add_to(app: typer.Typer) -> None:
        app.command(name, help=f"Does not load: {error.message}", context_settings=_ANYTHING)(
            command
        )

    return add_to
