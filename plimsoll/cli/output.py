"""How the command line speaks: results on standard output, everything else on standard error."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from plimsoll.errors import PlimsollError


class Errors:
    """Messages to the user on standard error."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def print_error(self, error: PlimsollError) -> None:
        """What is wrong, where, and what to do."""
        place = f"{error.where}: " if error.where else ""
        self._console.print(f"[bold red]error:[/] {escape(place + error.message)}", soft_wrap=True)
        if error.remedy:
            self._console.print(f"[bold]remedy:[/] {escape(error.remedy)}", soft_wrap=True)

    def print_interrupted(self) -> None:
        """The user ended it."""
        self._console.print("[bold]interrupted[/]")


stdout = Console()
stderr = Console(stderr=True)
errors = Errors(stderr)
