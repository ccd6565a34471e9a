"""The commands of `plimsoll`, each imported when it is called: some take a second."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from typer.core import TyperCommand, TyperGroup

from plimsoll.cli.methods.method_commands import made_by, method_command
from plimsoll.record.methods.folders import folder_methods, is_standard_test
from plimsoll.terminal.old_names import todays
from plimsoll.terminal.suggesting_group import SuggestingGroup

# By name, in the order in which help lists them, the module of this package that adds each, or the
# method whose folder does. All other methods stand between the two.
_FIRST = {
    "init": ".machine.init",
    "check": ".methods.check",
    "run": "load-line",
    "trial": "trial",
    "test": ".methods.test",
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
    "serve": ".serve.serve",
    "calibrate": ".machine.calibrate",
    "osnoise": ".machine.osnoise",
    "ports": ".machine.ports",
    "generators": ".machine.generators",
    "simulate": ".methods.simulate",
    "import": ".records.import_",
    "lab": ".machine.lab",
    "tune": ".tune.tune",
}


def command_names() -> tuple[str, ...]:
    """All of them; a method of another distribution takes no name of ours."""
    listed = {*_FIRST, *_FIRST.values(), *_THEN}
    methods = (each for each in folder_methods() if not is_standard_test(each))
    return (*_FIRST, *(each for each in methods if each not in listed), *_THEN)


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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As the group's own, also by the names that commands had in the last version."""
        return super().resolve_command(ctx, todays(args, tell=not ctx.resilient_parsing))


@cache
def _load(name: str) -> TyperCommand | TyperGroup:
    module = _FIRST.get(name) or _THEN.get(name) or name
    if not module.startswith("."):
        return method_command(module)
    return made_by(import_module(module, __package__).add_to)
