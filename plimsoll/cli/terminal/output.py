"""How the command line speaks: results on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleDimensions, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment

from plimsoll.errors import PlimsollError
from plimsoll.text.plain_text import plain_text, without_controls

# Wider than any line: a pipe, a file and a log have no edge to fold at.
_NO_EDGE = 10_000


class PlainConsole(Console):
    """A console on which no text drives the terminal: what is shown may be anybody's.

    Findings, names and messages of a run from elsewhere reach it by many ways, so it is here
    that their control characters are written out. What Rich itself sends is not text.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As Rich does, with the text of each segment made harmless."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            if control or text.isprintable():
                yield segment
            else:
                yield Segment(without_controls(text), style)


class EdgelessConsole(PlainConsole):
    """A console that folds lines on a terminal alone, or where COLUMNS asks for it."""

    @property
    def size(self) -> ConsoleDimensions:
        """The terminal's; elsewhere as wide as any line needs."""
        found = super().size
        return found if self.is_terminal else ConsoleDimensions(_NO_EDGE, found.height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size


class Errors:
    """Messages to the user on standard error."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def print_error(self, error: PlimsollError) -> None:
        """What is wrong, where, and what to do."""
        place = f"{error.where}: " if error.where else ""
        self._console.print(f"[bold red]error:[/] {_shown(place + error.message)}", soft_wrap=True)
        if error.remedy:
            self._console.print(f"[bold]remedy:[/] {_shown(error.remedy)}", soft_wrap=True)

    def print_interrupted(self) -> None:
        """The user ended it."""
        self._console.print("[bold]interrupted[/]")


def give_up_stdout() -> None:
    """Write no more to standard output: else Python says on exit that it could not flush it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _shown(text: str) -> str:
    # A message may quote a file or a program that would drive the terminal.
    return escape("\n".join(plain_text(line) for line in text.expandtabs().split("\n")))


def say(text: str) -> None:
    """A line about what goes on, on standard error, to the letter."""
    stderr.print(text, soft_wrap=True, markup=False, highlight=False)


stdout = EdgelessConsole()
stderr = PlainConsole(stderr=True)
errors = Errors(stderr)
