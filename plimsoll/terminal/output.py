"""How the command line speaks: results on standard output, everything else on standard error."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleDimensions, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from plimsoll.errors import InputError, PlimsollError
from plimsoll.text.given_path import reason_of
from plimsoll.text.plain_text import plain_signs, plain_text, without_controls

# Wider than any line: a pipe, a file and a log have no edge to fold at.
_NO_EDGE = 10_000


class PlainConsole(Console):
    """A console on which no text drives the terminal: what is shown may be anybody's.

    Findings, names and messages of a run from elsewhere reach it by many ways, so it is here
    that their control characters are written out, and that brackets are brackets: a string is
    never markup, and what is to have a style is a Text. What Rich itself sends is not text.
    Where the encoding is not Unicode, signs such as µ are replaced by what it has.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, markup=False, emoji=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As Rich does, with the text of each segment made harmless."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            if control or (text.isascii() and text.isprintable()):
                yield segment
            else:
                yield Segment(self._encodable(without_controls(text)), style)

    def on_broken_pipe(self) -> None:
        """Let the error out: Rich would exit with 1, which says that the DUT failed."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def _encodable(self, text: str) -> str:
        if self.encoding.startswith("utf"):
            return text
        return plain_signs(text, self.encoding)


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
        self._print("error:", "bold red", place + error.message)
        if error.remedy:
            self._print("remedy:", "bold", error.remedy)

    def print_interrupted(self) -> None:
        """The user ended it."""
        self._console.print(Text("interrupted", "bold"))

    def _print(self, label: str, style: str, text: str) -> None:
        self._console.print(labelled(label, _shown(text), style), soft_wrap=True)


def _shown(text: str) -> str:
    # A message may quote a file or a program that would drive the terminal.
    return "\n".join(plain_text(line) for line in text.expandtabs().split("\n"))


def labelled(label: str, text: object, style: str = "dim") -> Text:
    """A line that begins with what it is, in a style; the text is to the letter."""
    return Text.assemble((label, style), f" {text}")


def say(text: str) -> None:
    """A line about what goes on, on standard error, to the letter."""
    stderr.print(text, soft_wrap=True, highlight=False)


def wide_stdout(least: int) -> Console:
    """Standard output for tables that a narrow terminal may wrap but nothing may cut."""
    return EdgelessConsole(width=max(stdout.width, least))


stdout = EdgelessConsole()
stderr = PlainConsole(stderr=True)
errors = Errors(stderr)


def write_new_file(path: Path, text: str, option: str = "--output") -> None:
    """Write it and say so on standard error; never over something that exists.

    Raises InputError, with the `option` as the remedy, where it cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be written: {reason_of(error)}",
            where=str(path),
            remedy=f"name another file with {option}",
        ) from None
    stderr.print(f"written: {path}", soft_wrap=True, highlight=False)
