"""`plimsoll runs tag` and `plimsoll runs note`: what the user has to say of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.errors import InputError
from plimsoll.record.index.find import find_run
from plimsoll.record.index.run_notes import change_notes, parse_tag, parse_tag_key
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.options.run_choice import RunArgument, RunsFolderOption
from plimsoll.terminal.output import stdout
from plimsoll.terminal.tables.runs_table import shown

_TAG_EPILOG = (
    "Examples: **plimsoll runs tag last kernel=6.1 nic=e810** · "
    "**plimsoll runs tag 20260101T120000-demo --remove nic**"
)
_NOTE_EPILOG = 'Example: **plimsoll runs note last "after the BIOS update"**'


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(epilog=_TAG_EPILOG)(tag)
    app.command(epilog=_NOTE_EPILOG)(note)


def tag(
    run: RunArgument,
    tags: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE...", help="Tags to set.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="A tag to take off; may be repeated.")
    ] = None,
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Set or remove tags of a run, which may still be running."""
    where = "plimsoll runs tag"
    set_to = dict(parse_option(where, parse_tag, text) for text in tags or ())
    removed = [parse_option("--remove", parse_tag_key, key) for key in remove or ()]
    if not set_to and not removed:
        raise InputError("no tag is named", where=where, remedy="plimsoll runs tag last kernel=6.1")
    notes = change_notes(find_run(run, runs), lambda known: known.tagged(set_to, removed))
    for key, value in notes.tags.items():
        stdout.print(shown(f"{key}={value}"), soft_wrap=True)


def note(
    run: RunArgument,
    text: Annotated[str, typer.Argument(help="What there is to say; quote it.")],
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Add a note to a run, which may still be running."""
    change_notes(find_run(run, runs), lambda known: known.noted(text))
