"""Days and moments as people write them, for --since and --until."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from plimsoll.errors import InputError
from plimsoll.traffic.units import parse_duration

_REMEDY = (
    "write a day (2026-11-22), a moment (2026-11-22T07:30), today, yesterday, or how long ago "
    "(7d, 3h); all in UTC"
)
_NS_PER_US = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)


def parse_since(text: str, now: datetime) -> int:
    """The moment itself, or the beginning of the day (UTC, ns since the epoch).

    Raises InputError, without a place, for what is neither.
    """
    return _unix_ns(_parsed(text, now, end_of_day=False))


def parse_until(text: str, now: datetime) -> int:
    """The moment itself, or the end of the day (UTC, ns since the epoch).

    Raises InputError, without a place, for what is neither.
    """
    return _unix_ns(_parsed(text, now, end_of_day=True))


def _parsed(text: str, now: datetime, *, end_of_day: bool) -> datetime:
    try:
        day = _day(text.strip().lower(), now)
        if day is None:
            return _moment(text.strip(), now)
        return datetime(day.year, day.month, day.day, tzinfo=UTC) + end_of_day * _DAY
    except (ValueError, OverflowError, InputError):
        raise InputError(f"{text!r} is no day and no moment", remedy=_REMEDY) from None


def _day(text: str, now: datetime) -> date | None:
    today = now.astimezone(UTC).date()
    if text in ("today", "yesterday"):
        return today - (text == "yesterday") * _DAY
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _moment(text: str, now: datetime) -> datetime:
    if text[-1:].isalpha() and text[-1:] not in "zZ":
        return now - timedelta(seconds=parse_duration(text))
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _unix_ns(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1) * _NS_PER_US
