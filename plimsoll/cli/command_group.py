"""The commands of `plimsoll`, each imported when it is called: some take a second."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from plimsoll.errors import MachineError
from plimsoll.record.methods.folders import folder_methods, part_of
from plimsoll.terminal.suggesting_group import SuggestingGroup

# By name, in the order in which help lists them, the module of this package that adds each, or the
# method whose folder does. All other methods stand between the two.
_FIRST = {
    "init": ".machine.init",
    "check": ".methods.check",
    "run": "load-line",
    "trial": "trial",
    "console": ".console.console",
}
_THEN = {
    "watch": ".records.watch",
    "report": ".records.report",
    "why": ".records.why",
    "compare": ".records.compare",
    "trend": ".records.trend",
    "runs": ".records.runs",
    "metrics": ".records.metrics",
    "export": ".records.export",
    "bundle": ".records.bundle",
    "serve": ".records.serve",
    "trex-server": ".machine.trex_server",
    "calibrate": ".machine.calibrate",
    "noise": ".machine.noise",
    "ports": ".machine.ports",
    "generators": ".machine.generators",
    "simulate": ".methods.simulate",
    "import": ".records.import_",
    "otg": ".machine.otg",
    "lab": ".machine.lab",
    "cluster": ".machine.cluster",
    "tune": ".tune.tune",
}


_ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}


def command_names() -> tuple[str, ...]:
    """All of them; a method of another distribution takes no name of ours."""
    listed = {*_FIRST, *_FIRST.values(), *_THEN}
    return (*_FIRST, *(each for each in folder_methods() if each not in listed), *_THEN)


class CommandGroup(SuggestingGroup):
    """Knows the names, and imports a command's module, whose `add_to` registers it, on demand.

    Of click's types there are two, its own and those that newer versions of Typer carry.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return list(command_names())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; None where there is none."""
        return _load(cmd_name) if cmd_name in command_names() else None


@cache
def _load(name: str) -> TyperCommand | TyperGroup:
    app = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
    _add_to(name)(app)
    (command,) = get_group(app).commands.values()
    return cast(TyperCommand | TyperGroup, command)


def _add_to(name: str) -> Callable[[typer.Typer], None]:
    add_to: Callable[[typer.Typer], None]
    module = _FIRST.get(name) or _THEN.get(name) or name
    if module.startswith("."):
        add_to = import_module(module, __package__).add_to
        return add_to
    try:
        add_to = part_of(module, "command")
    except MachineError as error:
        return _unloadable(name, error)
    return add_to


def _unloadable(name: str, error: MachineError) -> Callable[[typer.Typer], None]:
    """In place of another distribution's command: it is listed, and says why it cannot run."""

    def command() -> None:
        raise error

    def add_to(app: typer.Typer) -> None:
        app.command(name, help=f"Does not load: {error.message}", context_settings=_ANYTHING)(
            command
        )

    return add_to
