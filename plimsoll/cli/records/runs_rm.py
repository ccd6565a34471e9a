"""`plimsoll runs rm`: remove runs, after asking."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.find import find_run_path
from plimsoll.record.index.removal import Removal, finish_removals, plan_removal, remove
from plimsoll.terminal.options.run_choice import RunArguments, RunsFolderOption
from plimsoll.terminal.output import errors, stderr, stdout
from plimsoll.terminal.tables.runs_table import answer_text, shown
from plimsoll.text.counted import size_text

_DECLINED = InputError.exit_code
_EPILOG = (
    "Examples: **plimsoll runs rm 20260101T120000-demo** · "
    "**plimsoll runs rm 20260101T1200 20260102 --yes**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(rm)


def rm(
    run: RunArguments,
    runs: RunsFolderOption = Path("runs"),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove runs: says what would be removed, and asks first.

    A run that is going on, a part of a matrix run, and a directory that is not a run are
    refused, and then nothing is removed. Of a link to a run only the link is removed.

    Exits with 0 if all were removed, with 2 if you said no, or if stdin is not a terminal and --yes
    is not given.
    """
    planned = _planned(run, runs)
    for removal in planned:
        stderr.print(_line(removal), soft_wrap=True)
    if not yes:
        _ask(planned)
    for folder in dict.fromkeys(removal.path.parent for removal in planned):
        _finish_earlier(folder)
    for removal in planned:
        remove(removal)
        stdout.print(shown(f"removed {removal.path}"), soft_wrap=True)


def _planned(named: Sequence[str], runs: Path) -> list[Removal]:
    """Each once, however it was named."""
    planned = [plan_removal(find_run_path(text, runs)) for text in named]
    return list({removal.path: removal for removal in planned}.values())


def _line(removal: Removal) -> Text:
    name = shown(str(removal.path), "bold")
    if removal.is_link:
        return name + Text(": a link; what it leads to stays")
    files = f"{removal.files:,} {'file' if removal.files == 1 else 'files'}"
    said = name + Text(f": {removal.entry.state}, ") + answer_text(removal.entry)
    said += Text(f", {size_text(removal.bytes)} in {files}")
    if removal.entry.state == "stopped":
        said += Text(", could still be resumed", "yellow")
    if removal.foreign:
        said += Text(", with files that are not the run's own: ", "yellow")
        said += shown(", ".join(removal.foreign), "yellow", most=200)
    return said


def _ask(planned: Sequence[Removal]) -> None:
    """Raises InputError without a terminal to confirm on, and ends the command on a no."""
    if not sys.stdin.isatty():
        raise InputError(
            "removal must be confirmed, and stdin is not a terminal",
            where="plimsoll runs rm",
            remedy="add --yes, or call it from a terminal",
        )
    what = "this run" if len(planned) == 1 else f"these {len(planned)} runs"
    total = size_text(sum(removal.bytes for removal in planned))
    if not typer.confirm(f"Remove {what}, {total}?", err=True):
        stderr.print("nothing was removed")
        raise typer.Exit(_DECLINED)


def _finish_earlier(folder: Path) -> None:
    try:
        finished = finish_removals(folder)
    except RecordError as error:
        errors.print_error(error)
        return
    if finished:
        stderr.print(f"removals finished that were cut short before: {finished}", style="dim")
