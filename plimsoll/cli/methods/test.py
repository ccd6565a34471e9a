"""`plimsoll test`: what standards define, each by the name of its document."""

from __future__ import annotations

from typing import Any

import typer

from plimsoll.cli.methods.method_commands import method_command
from plimsoll.record.methods.folders import folder_methods, is_standard_test
from plimsoll.terminal.suggesting_group import SuggestingGroup


class _StandardTests(SuggestingGroup):
    """Each is imported when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return [each for each in folder_methods() if is_standard_test(each)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The test of that name; None where there is none."""
        return method_command(cmd_name) if cmd_name in self.list_commands(ctx) else None


def add_to(parent: typer.Typer) -> None:
    """Register the commands."""
    app = typer.Typer(
        name="test",
        cls=_StandardTests,
        help="Test a DUT as a standard defines it.",
        epilog="Examples: **plimsoll test rfc2544 examples/demo.yaml --quick** · "
        "**plimsoll test rfc9004 examples/demo.yaml --quick**",
        no_args_is_help=True,
        rich_markup_mode="markdown",
    )
    app.callback()(_group_of_tests)
    parent.add_typer(app)


def _group_of_tests() -> None:
    """Typer's sign that this is a group, though it lists its commands itself."""
