"""A question to the metrics as an address, and the addresses of the questions next to it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args
from urllib.parse import urlencode

from plimsoll.errors import InputError
from plimsoll.record.metrics.over_time import OverTime
from plimsoll.record.query import (
    MEASUREMENT,
    Breakout,
    MetricQuery,
    parse_breakouts,
    parse_filter,
    parse_moment,
)
from plimsoll.record.samples.metric_type import Aggregation

PATH = "/metrics"
WINDOWS = 60
_AGGREGATIONS: Sequence[Aggregation] = get_args(Aggregation)
_OVER_TIME: Sequence[OverTime] = get_args(OverTime)
# What has a meaning in a breakout (record/query/breakout.py).
_MARKS = re.compile(r"([\\,=+])")


@dataclass(frozen=True, slots=True)
class MetricAddress:
    """What the explorer shows. Texts are as `plimsoll metrics get` takes them; empty is its own.

    `breakouts` are one name each, with what of its values counts.
    """

    runs: tuple[str, ...]
    source: str = ""
    type: str = ""
    period: str = MEASUREMENT
    breakouts: tuple[str, ...] = ()
    resolution: str = str(WINDOWS)
    aggregation: str = ""
    over_time: str = ""
    begin: str = ""
    end: str = ""
    filter: str = ""

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> MetricAddress:
        """From the parameters of an address, which may come several times."""
        several: dict[str, list[str]] = {}
        for name, value in pairs:
            if value.strip():
                several.setdefault(name, []).append(value.strip())
        fields = {name: values[-1] for name, values in several.items() if name in _SINGLE}
        return cls(
            runs=tuple(several.get("run", ())),
            breakouts=tuple(several.get("breakout", ())),
            **fields,
        )

    @property
    def href(self) -> str:
        """The address."""
        pairs = [("run", each) for each in self.runs]
        defaults = MetricAddress(())
        for name in _SINGLE:
            value = getattr(self, name)
            if value != getattr(defaults, name):
                pairs.append((name, value))
        pairs += [("breakout", each) for each in self.breakouts]
        return f"{PATH}?{urlencode(pairs)}"

    def of_metric(self, source: str, kind: str) -> MetricAddress:
        """The same of another metric, which has other names."""
        return replace(self, source=source, type=kind, breakouts=(), filter="")

    def broken_out(self, name: str) -> MetricAddress:
        """The same, split by this name as well."""
        return replace(self, breakouts=(*self.breakouts, _escaped(name)))

    def without(self, place: int) -> MetricAddress:
        """The same without the breakout at this place."""
        kept = tuple(each for n, each in enumerate(self.breakouts) if n != place)
        return replace(self, breakouts=kept)

    def narrowed(self, place: int, name: str, value: str) -> MetricAddress:
        """The same with one value alone of the breakout at this place."""
        only = f"{_escaped(name)}={_escaped_value(value)}"
        kept = [only if n == place else each for n, each in enumerate(self.breakouts)]
        return replace(self, breakouts=tuple(kept))

    def parsed_breakouts(self) -> tuple[Breakout, ...]:
        """Raises InputError if it is not one."""
        return parse_breakouts(",".join(self.breakouts)) if self.breakouts else ()

    def query(self) -> MetricQuery:
        """The question. Raises InputError for an impossible one, naming the option."""
        if not (self.resolution.isascii() and self.resolution.isdecimal()):
            raise InputError(
                f"{self.resolution!r} is not a number of windows",
                where="--resolution",
                remedy="write a number, such as 60",
            )
        return MetricQuery(
            source=self.source,
            type=self.type,
            period=self.period,
            begin=parse_moment(self.begin, "--begin", None) if self.begin else None,
            end=parse_moment(self.end, "--end", None) if self.end else None,
            resolution=int(self.resolution[:9]),
            breakouts=self.parsed_breakouts(),
            filter=parse_filter(self.filter) if self.filter else None,
            aggregation=_aggregation(self.aggregation),
            over_time=_over_time(self.over_time),
        )

    @property
    def command(self) -> str:
        """The same question on the command line."""
        words = ["plimsoll", "metrics", "get"]
        for run in self.runs:
            words += ["--run", run]
        words += ["--source", self.source, "--type", self.type]
        options: Mapping[str, str] = {
            "--period": "" if self.period == MEASUREMENT else self.period,
            "--breakout": ",".join(self.breakouts),
            "--begin": self.begin,
            "--end": self.end,
            "--resolution": self.resolution,
            "--filter": self.filter,
            "--aggregation": self.aggregation,
            "--over-time": self.over_time,
        }
        for option, value in options.items():
            words += [option, value] if value else []
        return shlex.join(words)


_SINGLE = (
    "source",
    "type",
    "period",
    "resolution",
    "aggregation",
    "over_time",
    "begin",
    "end",
    "filter",
)


def _aggregation(text: str) -> Aggregation | None:
    return next((each for each in _AGGREGATIONS if each == text), None)


def _over_time(text: str) -> OverTime | None:
    return next((each for each in _OVER_TIME if each == text), None)


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)


def _escaped_value(text: str) -> str:
    r"""Of what would begin as a regex, r/ or R/, the letter is escaped."""
    escaped = _escaped(text)
    return f"\\{escaped}" if text[:2] in ("r/", "R/") else escaped
