"""Moments: the record's whole numbers since the epoch, and what people call the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from plimsoll.errors import InputError
from plimsoll.record.query.metric_query import Moment, parse_moment

# As a user states it: aware, in ms since the epoch as the record has it, or as text, such as
# 2026-11-02T09:30Z, or "+30" for 30 s after a period begins, "-30" for 30 s before it ends.
When: TypeAlias = datetime | int | str

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def utc_of_ns(unix_ns: int) -> datetime:
    """In UTC, to the microsecond below: a float of seconds would not be exact."""
    return EPOCH + timedelta(microseconds=unix_ns // 1000)


def utc_of_ms(unix_ms: float) -> datetime:
    """In UTC, to the nearest microsecond."""
    return EPOCH + timedelta(microseconds=round(unix_ms * 1000))


def moment_of(when: When, where: str) -> Moment:
    """The moment meant. Raises InputError at `where`."""
    if isinstance(when, str):
        return parse_moment(when, where)
    if isinstance(when, int):
        return Moment(when)
    if when.tzinfo is None:
        raise InputError(
            f"{when} has no time zone",
            where=where,
            remedy="say which, such as datetime(2026, 11, 2, 9, 30, tzinfo=UTC)",
        )
    return Moment((when - EPOCH) // _MILLISECOND)


def unix_ms(when: When, where: str) -> int:
    """In ms since the epoch. Raises InputError at `where`, also for a relative one."""
    moment = moment_of(when, where)
    if moment.since != "epoch":
        raise InputError(
            f"{when!r} is relative to a period, and here is none",
            where=where,
            remedy="write a date, or ms since the epoch",
        )
    return moment.ms
