"""A moment: absolute, or from the begin or the end of the period queried."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Literal

from plimsoll.errors import InputError

_UNIX_MS = re.compile(r"\d{1,15}")
_RELATIVE = re.compile(r"[+-](\d+(\.\d*)?|\.\d+)s?")
# Python takes any sign for the T of ISO 8601: an offset behind a day would become its hour.
_DATE_AND_TIME = re.compile(r"[\dW-]{7,10}([Tt ].+)?")
_REMEDY = (
    "write ms since the epoch, such as 1765515198842; or 2025-12-12T07:53:45, which may end in "
    "Z or an offset; "
    "or +30 for 30 s after the period begins, -30 for 30 s before it ends"
)
# Beyond it neither dates nor the sums of a query are sure to fit.
_MOST_MS = 10**14


@dataclass(frozen=True, slots=True)
class Moment:
    """`ms` since the epoch, after the period begins, or (not above 0) from where it ends."""

    ms: int
    since: Literal["epoch", "begin", "end"] = "epoch"

    def at(self, begin_ms: int, end_ms: int) -> int:
        """In ms since the epoch, for a period of these."""
        return self.ms + {"epoch": 0, "begin": begin_ms, "end": end_ms}[self.since]


def parse_moment(text: str, option: str, zone: tzinfo | None = None) -> Moment:
    """The moment that `text` names; a date without a zone is in `zone`, None being this host's.

    Raises InputError at `option`.
    """
    text = text.strip()
    if _UNIX_MS.fullmatch(text):
        return _checked(int(text), "epoch", text, option)
    if _RELATIVE.fullmatch(text):
        ms = round(float(text.removesuffix("s")) * 1e3)
        return _checked(ms, "end" if text.startswith("-") else "begin", text, option)
    try:
        found = date_and_time(text, zone)
        return _checked(math.floor(found.timestamp() * 1e3), "epoch", text, option)
    except (ValueError, OverflowError, OSError):
        raise _mistake(text, option) from None


def date_and_time(text: str, zone: tzinfo | None) -> datetime:
    """In UTC what `text` says by ISO 8601; without an offset or a Z it is in `zone`.

    That is None for this host's. Raises ValueError, OverflowError or OSError for what is none.
    """
    if not _DATE_AND_TIME.fullmatch(text):
        raise ValueError(f"{text!r} is neither a date nor a time")
    return in_zone(datetime.fromisoformat(text), zone)


def in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    """In UTC; one that has no zone is in this one, None being this host's.

    Raises OverflowError or OSError beyond the years that there are.
    """
    placed = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    return placed.astimezone(UTC)


def in_utc(unix_ms: float) -> str:
    """As people read it, to the second."""
    return f"{datetime.fromtimestamp(unix_ms / 1e3, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _checked(ms: int, since: Literal["epoch", "begin", "end"], text: str, option: str) -> Moment:
    if abs(ms) > _MOST_MS:
        raise _mistake(text, option)
    return Moment(ms, since)


def _mistake(text: str, option: str) -> InputError:
    return InputError(f"{text!r} is not a valid time", where=option, remedy=_REMEDY)
