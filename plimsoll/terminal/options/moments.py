"""Days and moments as people write them, for --since and --until."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

from plimsoll.errors import InputError
from plimsoll.record.query.moment import date_and_time, in_zone
from plimsoll.text.units import parse_duration

_REMEDY = (
    "write a day (2026-11-22), a moment (2026-11-22T07:30, or with an offset: "
    "2026-11-22T07:30+01:00, 2026-11-22T07:30Z), today, yesterday, or how long ago (7d, 3h)"
)
_NS_PER_US = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)


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
