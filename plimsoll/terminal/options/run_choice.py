"""The run that a command is about, as an argument, and its completion in the shell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.errors import PlimsollError
from plimsoll.record.index.find import LAST
from plimsoll.record.index.run_paths import run_paths


def complete_run(context: typer.Context, incomplete: str) -> list[str]:
    """The ids below the folder of the runs that begin so, the last first, and `last`."""
    runs_root = context.params.get("runs") or "runs"
    try:
        ids = [path.name for path in run_paths(Path(str(runs_root)))]
    except PlimsollError:
        return []
    # A name that would drive the terminal is not offered to be written into it.
    words = [LAST, *(name for name in reversed(ids) if name.isprintable())]
    return [word for word in words if word.startswith(incomplete)]


RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run: its path, its id, the start of its id, or last.",
        autocompletion=complete_run,
    ),
]
RunArguments = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="Runs: paths, ids, beginnings of ids, or last.",
        autocompletion=complete_run,
    ),
]
RunsFolderOption = Annotated[Path, typer.Option("--runs", help="The folder of the runs.")]
