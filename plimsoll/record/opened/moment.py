"""Moments: the record's whole numbers since the epoch, and what people call the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from plimsoll.errors import InputError

# A moment as a user may state it: aware, or in ms since the epoch as the record has it.
Moment = datetime | int | float

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def utc_of_ns(unix_ns: int) -> datetime:
    """In UTC, to the microsecond below: a float of seconds would not be exact."""
    return EPOCH + timedelta(microseconds=unix_ns // 1000)


def utc_of_ms(unix_ms: float) -> datetime:
    """In UTC, to the nearest microsecond."""
    return EPOCH + timedelta(microseconds=round(unix_ms * 1000))


def unix_ms(moment: Moment, where: str) -> int:
    """In ms since the epoch, rounded down. Raises InputError at `where`."""
    if not isinstance(moment, datetime):
        return int(moment)
    if moment.tzinfo is None:
        raise InputError(
            f"{moment} has no time zone",
            where=where,
            remedy="say which, such as datetime(2026, 11, 2, 9, 30, tzinfo=UTC)",
        )
    return (moment - EPOCH) // _MILLISECOND
