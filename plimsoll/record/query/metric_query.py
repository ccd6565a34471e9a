"""A question to the metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Literal, get_args

from plimsoll.errors import InputError
from plimsoll.record.metrics.over_time import OverTime, quantile_of
from plimsoll.record.query.breakout import Breakout
from plimsoll.record.samples.metric_type import Aggregation

_UNIX_MS = re.compile(r"\d{1,15}")
_RELATIVE = re.compile(r"[+-](\d+(\.\d*)?|\.\d+)s?")
# Python takes any sign for the T of ISO 8601: an offset behind a day would become its hour.
_DATE_AND_TIME = re.compile(r"[\dW-]{7,10}([Tt ].+)?")
_TIME_REMEDY = (
    "write ms since the epoch, such as 1765515198842; or 2025-12-12T07:53:45, which may end in "
    "Z or an offset; "
    "or +30 for 30 s after the period begins, -30 for 30 s before it ends"
)
# Beyond it neither dates nor the sums of a query are sure to fit.
_MAX_MS = 10**14


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
        raise _time_mistake(text, option) from None


def date_and_time(text: str, zone: tzinfo | None) -> datetime:
    """In UTC what `text` says by ISO 8601; without an offset or a Z it is in `zone`.

    That is None for this host's. Raises ValueError, OverflowError or OSError if it is not one.
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
    if abs(ms) > _MAX_MS:
        raise _time_mistake(text, option)
    return Moment(ms, since)


def _time_mistake(text: str, option: str) -> InputError:
    return InputError(f"{text!r} is not a valid time", where=option, remedy=_TIME_REMEDY)


ComparisonOperator = Literal["gt", "ge", "lt", "le", "eq"]
_SQL: Mapping[ComparisonOperator, str] = {"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "="}
_REMEDY = "write gt, ge, lt, le or eq, a colon and a number, such as gt:0.5"


# Which rows of an answer are shown: those whose value over the whole range passes.
@dataclass(frozen=True, slots=True)
class ValueFilter:
    """Keeps values that compare so with `limit`."""

    comparison: ComparisonOperator
    limit: float

    def __post_init__(self) -> None:
        if self.comparison not in get_args(ComparisonOperator) or not math.isfinite(self.limit):
            raise _mistake(str(self))

    def __str__(self) -> str:
        return f"{self.comparison}:{self.limit!r}".removesuffix(".0")

    def condition(self, value: str) -> str:
        """As SQL about the expression `value`, with a `?` for the limit."""
        return f"{value} {_SQL[self.comparison]} ?"


def parse_filter(text: str) -> ValueFilter:
    """The filter that OP:VALUE states. Raises InputError."""
    comparison, colon, limit = text.partition(":")
    for known in get_args(ComparisonOperator):
        if colon and comparison == known:
            try:
                return ValueFilter(known, float(limit))
            except ValueError:
                break
    raise _mistake(text)


def _mistake(text: str) -> InputError:
    return InputError(f"{text!r} is not a valid filter", where="--filter", remedy=_REMEDY)


# Names of the run's primary period and of all its periods together.
MEASUREMENT, ALL_PERIODS = "measurement", "all"
_MAX_WINDOWS = 10_000


@dataclass(frozen=True, slots=True)
class MetricQuery:
    """A query; docs/metrics.md says what every part means.

    `begin` and `end` are None for those of the measurement, else moments or ms since the
    epoch. `resolution` is how many windows of equal length there are between them. Without
    an `aggregation` series are drawn together as the metric itself says, and without
    `over_time` so are a series' values within a window: of a greatest value the greatest, of
    a quantile that of all samples. Raises InputError for an impossible query.
    """

    source: str
    type: str
    period: str = MEASUREMENT
    begin: Moment | int | None = None
    end: Moment | int | None = None
    resolution: int = 1
    breakouts: tuple[Breakout, ...] = ()
    filter: ValueFilter | None = None
    aggregation: Aggregation | None = None
    over_time: OverTime | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.resolution <= _MAX_WINDOWS:
            raise InputError(
                f"{self.resolution} windows are not possible",
                where="--resolution",
                remedy=f"ask for 1 to {_MAX_WINDOWS}",
            )
        _one_of(self.over_time, (None, *get_args(OverTime)), "--over-time")
        _one_of(self.aggregation, (None, *get_args(Aggregation)), "--aggregation")
        if self.of_all_samples and self.aggregation is not None:
            raise InputError(
                f"{self.type} of several series is that of all their samples together, "
                f"which has no {self.aggregation}",
                where="--aggregation",
                remedy="leave it out, split the series by --breakout, or say with --over-time max "
                "that the worst interval of each series is meant",
            )

    @property
    def of_all_samples(self) -> bool:
        """Whether it is about a quantile that only the samples themselves can tell."""
        return self.over_time is None and quantile_of(self.type) is not None

    def time_range(self, begin_ms: int, end_ms: int) -> tuple[int, int]:
        """The time range queried, of a measurement from and to these ms since the epoch.

        Raises InputError where that ends before it begins, or is shorter than its windows.
        """
        begin = _at(self.begin, begin_ms, end_ms, begin_ms)
        end = _at(self.end, begin_ms, end_ms, end_ms)
        if end - begin < self.resolution:
            raise self._too_short((begin, end), (begin_ms, end_ms))
        return begin, end

    @property
    def fixed_range(self) -> tuple[int, int] | None:
        """The time range queried where it is the same for any period, else None.

        Raises InputError as `time_range` does.
        """
        ends = [Moment(m) if isinstance(m, int) else m for m in (self.begin, self.end)]
        if all(moment is not None and moment.since == "epoch" for moment in ends):
            return self.time_range(0, 0)
        return None

    def _too_short(self, requested: tuple[int, int], measured: tuple[int, int]) -> InputError:
        begin_ms, end_ms = requested
        if end_ms <= begin_ms:
            problem = (
                f"the time range ends ({in_utc(end_ms)}) before it begins ({in_utc(begin_ms)})"
            )
            remedy = "ask for an end after the begin"
            if any(measured):
                remedy += f"; measured was from {in_utc(measured[0])} to {in_utc(measured[1])}"
            return InputError(problem, where="--begin, --end", remedy=remedy)
        return InputError(
            f"{end_ms - begin_ms} ms cannot be cut into {self.resolution} windows",
            where="--resolution",
            remedy="ask for windows of 1 ms or longer",
        )


def _at(moment: Moment | int | None, begin_ms: int, end_ms: int, default: int) -> int:
    if moment is None:
        return default
    return moment if isinstance(moment, int) else moment.at(begin_ms, end_ms)


def _one_of(value: object, known: tuple[object, ...], option: str) -> None:
    if value not in known:
        names = ", ".join(str(each) for each in known if each is not None)
        raise InputError(f"{value!r} is not known", where=option, remedy=f"use one of {names}")
