"""Which runs a list is of, as options: by tag, by name, and by when they began."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import typer

from plimsoll.record.index.run_tag import parse_tag, parse_tag_key
from plimsoll.terminal.options.moments import parse_since, parse_until
from plimsoll.terminal.options.options import parse_option

TagFilterOption = Annotated[
    list[str] | None,
    typer.Option("--tag", help="A key, or key=value; of several all must be there."),
]
DutFilterOption = Annotated[
    list[str] | None,
    typer.Option("--dut", help="A kind of lab, or the model of a simulated DUT; one of several."),
]
MethodFilterOption = Annotated[
    list[str] | None,
    typer.Option("--method", help="Such as load-line, soak, rfc2544; one of several."),
]
SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since",
        help="Began then or later: 2026-11-22, 2026-11-22T07:30, 7d, today; in this host's "
        "time, or with an offset: 2026-11-22T07:30Z.",
    ),
]
UntilOption = Annotated[
    str | None,
    typer.Option("--until", help="Began before: a moment, or the end of a day; likewise."),
]
UtcOption = Annotated[
    bool, typer.Option("--utc", help="--since and --until in UTC, not this host's time.")
]
NameFilterOption = Annotated[
    str | None,
    typer.Option("--name", help="A shell pattern for name or id, such as '*-imix'."),
]


def tag_filters(tags: Sequence[str] | None) -> tuple[tuple[str, str | None], ...]:
    """Key and value of each --tag; no value where any will do. Raises InputError."""
    return tuple(_tag(text) for text in tags or ())


def began_between(
    since: str | None, until: str | None, now: datetime, *, utc: bool
) -> tuple[int | None, int | None]:
    """--since and --until in ns since the epoch; None where not given. Raises InputError."""
    zone = UTC if utc else None
    from_, to = partial(parse_since, now=now, zone=zone), partial(parse_until, now=now, zone=zone)
    return (
        None if since is None else parse_option("--since", from_, since),
        None if until is None else parse_option("--until", to, until),
    )


def _tag(text: str) -> tuple[str, str | None]:
    if "=" in text:
        return parse_option("--tag", parse_tag, text)
    return parse_option("--tag", parse_tag_key, text), None
