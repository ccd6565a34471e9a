"""Which runs a list is of, as options: by tag, by name, and by when they began."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import partial
from typing import Annotated

import typer

from plimsoll.errors import InputError
from plimsoll.record.index.find import RunFilter
from plimsoll.record.index.run_notes import parse_tag, parse_tag_key
from plimsoll.record.query.metric_query import date_and_time, in_zone
from plimsoll.terminal.options.options import parse_option
from plimsoll.text.units import parse_duration

TagFilterOption = Annotated[
    list[str] | None,
    typer.Option("--tag", help="Filter by tag, KEY or KEY=VALUE; repeat to require all."),
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


_REMEDY = (
    "write a day (2026-11-22), a moment (2026-11-22T07:30, or with an offset: "
    "2026-11-22T07:30+01:00, 2026-11-22T07:30Z), today, yesterday, or how long ago (7d, 3h)"
)


_NS_PER_US = 1000


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_DAY = timedelta(days=1)


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


# Days and moments as people write them, for --since and --until.
def parse_since(text: str, now: datetime, zone: tzinfo | None) -> int:
    """The moment itself, or the start of the day (ns since the epoch).

    Days, and moments without an offset, are in `zone`, None being this host's. Raises
    InputError, without a place, for what is neither.
    """
    return _unix_ns(_parsed(text, now, zone, end_of_day=False))


def parse_until(text: str, now: datetime, zone: tzinfo | None) -> int:
    """The moment itself, or the end of the day (ns since the epoch); as `parse_since`."""
    return _unix_ns(_parsed(text, now, zone, end_of_day=True))


def _parsed(text: str, now: datetime, zone: tzinfo | None, *, end_of_day: bool) -> datetime:
    try:
        day = _day(text.strip().lower(), now.astimezone(zone).date())
        if day is None:
            return _moment(text.strip(), now, zone)
        # Where clocks are set back or forward, a day has not 24 hours.
        return in_zone(datetime.combine(day + end_of_day * _DAY, time()), zone)
    except (ValueError, OverflowError, OSError, InputError):
        raise InputError(f"{text!r} is not a valid day or time", remedy=_REMEDY) from None


def _day(text: str, today: date) -> date | None:
    if text in ("today", "yesterday"):
        return today - (text == "yesterday") * _DAY
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _moment(text: str, now: datetime, zone: tzinfo | None) -> datetime:
    if text[-1:].isalpha() and text[-1:] not in "zZ":
        return now - timedelta(seconds=parse_duration(text))
    return date_and_time(text, zone)


def _unix_ns(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1) * _NS_PER_US


def _tag_filters(tags: Sequence[str] | None) -> tuple[tuple[str, str | None], ...]:
    """Key and value of each --tag; no value where any will do. Raises InputError."""
    return tuple(_tag(text) for text in tags or ())


def run_filter(
    tags: Sequence[str] | None,
    duts: Sequence[str] | None,
    methods: Sequence[str] | None,
    name: str | None,
    began: tuple[int | None, int | None],
) -> RunFilter:
    """What the options --tag, --dut, --method, --name, --since and --until choose.

    Raises InputError.
    """
    since_ns, until_ns = began
    return RunFilter(
        tags=_tag_filters(tags),
        duts=tuple(duts or ()),
        methods=tuple(methods or ()),
        name=name,
        since_ns=since_ns,
        until_ns=until_ns,
    )
