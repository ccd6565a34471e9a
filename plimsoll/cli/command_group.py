"""The commands of `plimsoll`, each imported when it is called: some take a second."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from plimsoll.record.methods.folders import folder_methods, part_name
from plimsoll.terminal.suggesting_group import SuggestingGroup

# By name, in the order in which help lists them, the module that adds each: of this package,
# where it begins with a dot. Methods with a folder of their own stand between the two.
_FIRST = {
    "init": ".machine.init",
    "check": ".methods.check",
    "run": ".methods.run",
    "trial": ".methods.trial",
    "console": ".console.console",
    "matrix": ".methods.matrix",
    "noisy": ".methods.noisy",
    "plugfest": ".methods.plugfest",
}
_THEN = {
    "churn": ".methods.churn",
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


def command_modules() -> Mapping[str, str]:
    """The module of each command."""
    return {**_FIRST, **{name: part_name(name, "command") for name in folder_methods()}, **_THEN}


class CommandGroup(SuggestingGroup):
    """Knows the names, and imports a command's module, whose `add_to` registers it, on demand.

    Of click's types there are two, its own and those that newer versions of Typer carry.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return list(command_modules())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; None where there is none."""
        module = command_modules().get(cmd_name)
        return None if module is None else _load(module)


@cache
def _load(module: str) -> TyperCommand | TyperGroup:
    app = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
    import_module(module, __package__).add_to(app)
    (command,) = get_group(app).commands.values()
    return cast(TyperCommand | TyperGroup, command)
