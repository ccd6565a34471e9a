"""A group of commands that says which of them was likely meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from typer.core import TyperGroup

from plimsoll.errors import InputError
from plimsoll.terminal.output import stderr
from plimsoll.text.mistakes import did_you_mean


class BeyondTyper(Exception):
    """Carries an `error` past Typer, which takes a broken pipe for a failure, exit code 1, and
    the end of any file for an interruption.
    """

    def __init__(self, error: OSError | EOFError) -> None:
        super().__init__(str(error))
        self.error = error


class SuggestingGroup(TyperGroup):
    """Refuses a command that there is not in the words that all errors have."""

    def invoke(self, ctx: Any) -> Any:
        """As Typer's. Raises BeyondTyper for the errors in which Typer would meddle."""
        try:
            return super().invoke(ctx)
        except (OSError, EOFError) as error:
            raise BeyondTyper(error) from error

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As Typer's. Raises InputError where there is no such command."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            raise InputError(
                f"there is no command {name!r}",
                where=ctx.command_path,
                remedy=did_you_mean(
                    name, self.list_commands(ctx), f"see {ctx.command_path} --help"
                ),
            )
        return super().resolve_command(ctx, args)


class DefaultGroup(SuggestingGroup):
    """Takes its `default` where no command is named: `runs --tag x` is `runs list --tag x`."""

    default: ClassVar[str]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As the group's own, with the command put in where none is named."""
        bare = not args or (args[0].startswith("-") and args[0] != "--help")
        # While the shell completes, nothing may stand where a command may still come.
        if bare and not ctx.resilient_parsing:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


# What an old command is written as now; a value's place is behind it.
_OLD: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("noise",): ("osnoise",),
    ("otg",): ("serve", "otg"),
    ("trex-server",): ("serve", "trex"),
    ("bundle",): ("export", "--format", "bundle"),
    ("rfc2544",): ("test", "rfc2544"),
    ("rfc9004",): ("test", "rfc9004"),
    ("cluster", "list"): ("runs", "list", "--on"),
    ("cluster", "clean"): ("runs", "clean", "--on"),
}


def todays(args: Sequence[str], *, tell: bool) -> list[str]:
    """The words of a command as they are today; `tell` says on standard error what changed."""
    old = next((words for words in _OLD if tuple(args[: len(words)]) == words), ())
    now = _OLD.get(old, ())
    if old and tell:
        renamed(f"plimsoll {' '.join(old)}", f"plimsoll {' '.join(now)}")
    return [*now, *args[len(old) :]]


def renamed(old: str, now: str) -> None:
    """Say so, on standard error."""
    stderr.print(
        f"note: {old} is {now} from this version on; the old name goes with the next",
        soft_wrap=True,
        highlight=False,
        markup=False,
    )
