"""Options that several commands have, and reading option values that have units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from plimsoll.benchmark.experiment.set_field import OPTION, SetField, parse_set_field
from plimsoll.errors import InputError
from plimsoll.record.index.run_notes import change_notes, parse_tag
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.web.endpoint import ListenEndpoint, parse_endpoint

T = TypeVar("T")
ExperimentArgument = Annotated[
    Path | None, typer.Argument(help="The experiment (YAML); not with --resume.")
]
RunsOption = Annotated[Path, typer.Option(help="Where run directories are made.")]
MetricsPortOption = Annotated[
    ListenEndpoint | None,
    typer.Option(
        "--metrics-port",
        parser=parse_endpoint,
        metavar="[ADDRESS:]PORT",
        help="Serve live values as OpenMetrics during the run, by default on the loopback.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
SetOption = Annotated[
    list[SetField] | None,
    typer.Option(
        OPTION,
        parser=parse_set_field,
        metavar="FIELD=VALUE",
        help="Override a field of the experiment, written as in the file: "
        "search.maximum=2Mpps, criteria.0.at_most=1e-5; may be repeated.",
    ),
]
# Ethernet's shortest frame, and the longest that the engine takes; bytes with FCS.
_LEAST, _MOST = 64, 9216


def parse_option(option: str, parse: Callable[[str], T], text: str) -> T:
    """The option's value; its InputError names the option."""
    try:
        return parse(text)
    except InputError as error:
        raise InputError(error.message, where=option, remedy=error.remedy) from None


# Tags on a run from its start, an option of every command that leaves one.
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


# `--set`, an option of every command that takes an experiment.
def refuse_set_fields(set_fields: Sequence[SetField] | None) -> None:
    """Raise InputError where fields are set of a running run, which keeps its experiment."""
    for each in set_fields or ():
        raise InputError(
            "a resumed run keeps its own experiment",
            where=each.place,
            remedy="leave it out, or start a new run",
        )


# Lists of numbers as option values: frame sizes, percents.
def parse_sizes(option: str, text: str) -> tuple[int, ...]:
    """Frame sizes in bytes with FCS from "64,1518", each once. Raises InputError."""
    sizes: list[int] = []
    for word in _words(option, text, "64,512,1518"):
        if not word.isdecimal() or not _LEAST <= int(word) <= _MOST:
            raise InputError(
                f"{word!r} is not a frame size",
                where=option,
                remedy=f"give whole bytes with FCS from {_LEAST} to {_MOST}, such as 64,512,1518",
            )
        sizes.append(int(word))
    return tuple(dict.fromkeys(sizes))


def parse_percents(option: str, text: str) -> tuple[float, ...]:
    """Percents from "0,10,50,90", each once. Raises InputError."""
    percents: list[float] = []
    for word in _words(option, text, "0,10,50,90"):
        try:
            percents.append(float(word.removesuffix("%")))
        except ValueError:
            raise InputError(
                f"{word!r} is not a percentage", where=option, remedy="give some such as 0,10,50,90"
            ) from None
    return tuple(dict.fromkeys(percents))


def _words(option: str, text: str, example: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise InputError("the list is empty", where=option, remedy=f"give some such as {example}")
    return words
