"""Tags on a run from its start, an option of every command that leaves one."""

from __future__ import annotations

from typing import Annotated

import typer

from plimsoll.record.index.run_notes import change_notes
from plimsoll.record.index.run_tag import parse_tag
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.options.options import parse_option


def _checked(tags: list[str] | None) -> list[str] | None:
    """As given, read before there is a run: a mistake leaves none. Raises InputError."""
    for text in tags or ():
        parse_option("--tag", parse_tag, text)
    return tags


TagsOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="A tag for the run, to find it by: kernel=6.1; may be repeated.",
        callback=_checked,
    ),
]


def tag_run(directory: RunDirectory, tags: list[str] | None) -> None:
    """Set the tags that were given, in addition to those it has. Raises RecordError."""
    given = dict(parse_tag(text) for text in tags or ())
    if given:
        change_notes(directory, lambda known: known.tagged(given))
