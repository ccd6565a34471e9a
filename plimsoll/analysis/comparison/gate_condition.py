"""One condition on a figure of a run, from text such as "load_line < 1.5Mpps"."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from plimsoll.errors import InputError
from plimsoll.record.methods.run_outcome import PER_DIRECTION
from plimsoll.text.units import (
    format_ns,
    format_number,
    format_pps,
    format_ratio,
    parse_latency_ns,
    parse_rate,
    parse_ratio,
)

Sign = Literal["<", "<=", ">", ">="]

_COMPARE: Mapping[Sign, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FORM = re.compile(r"\s*([A-Za-z][\w .+-]*?)\s*(<=|>=|<|>)\s*(\S.*?)\s*", re.ASCII)
_OF_BASELINE = re.compile(r"(\S+\s*%)\s+of\s+(?:the\s+)?baseline", re.IGNORECASE)
_LONGEST = 200
_REMEDY = "write for example 'load_line < 1.5Mpps', 'p99.9 > 50us' or 'load_line < 95% of baseline'"


@dataclass(frozen=True, slots=True)
class Condition:
    """`figure` is as written, in one spelling; `limit` is text, read in the figure's unit.

    With `of_baseline` the limit is a share of the baseline's figure.
    """

    text: str
    figure: str
    sign: Sign
    limit: str
    of_baseline: float | None = None

    @property
    def name(self) -> str:
        """For lists of gates, in which what holds is bad."""
        return f"fail if {self.text}"

    def limit_in(self, unit: str) -> float:
        """The limit in a figure's `unit`. Raises InputError where it is of another kind."""
        try:
            return _parsed(self.limit, unit)
        except InputError as error:
            raise _refused(self.text, error.message, error.remedy) from None

    def holds(self, value: float, limit: float) -> bool:
        """Whether `value` fulfils it."""
        return _COMPARE[self.sign](value, limit)


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises InputError that names what is wrong in it."""
    found = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise _refused(text, "is not a figure, a sign (<, <=, >, >=) and a limit", _REMEDY)
    name, sign, limit = found.groups()
    share = _OF_BASELINE.fullmatch(limit)
    return Condition(
        text=text.strip(),
        figure=spelling(name),
        sign=next(each for each in _COMPARE if each == sign),
        limit=limit,
        of_baseline=None if share is None else _share(text, share[1]),
    )


def spelling(name: str) -> str:
    """A figure's name as it is compared: "Load_line" and "load-line" are "load line"."""
    words = re.sub(r"[\s_-]+", " ", name).strip().lower()
    return words.removesuffix(" latency").removesuffix(" ratio")


def value_text(value: float, unit: str) -> str:
    """A figure for people."""
    formats = {"ns": format_ns, "ratio": format_ratio, PER_DIRECTION: format_pps}
    shown = formats.get(unit)
    return shown(value) if shown else f"{format_number(value)} {unit}".strip()


def _parsed(limit: str, unit: str) -> float:
    if unit == "ns":
        return parse_latency_ns(limit)
    if unit == "ratio":
        return parse_ratio(limit)
    if unit == PER_DIRECTION:
        rate = parse_rate(limit)
        if rate.unit != "pps":
            raise InputError(f"{limit!r} is not in frames a second", remedy="write as in 1.5Mpps")
        return rate.value
    try:
        return float(limit)
    except ValueError:
        raise InputError(f"{limit!r} is not a number", remedy=f"give {unit}") from None


def _share(text: str, written: str) -> float:
    try:
        share = float(written.rstrip("% "))
    except ValueError:
        raise _refused(text, f"{written!r} is not a share", _REMEDY) from None
    if not 0 < share < float("inf"):
        raise _refused(text, f"{written!r} is not a share above zero", _REMEDY)
    return share / 100


def _refused(text: str, message: str, remedy: str) -> InputError:
    return InputError(message, where=f"--fail-if {text[:_LONGEST]!r}", remedy=remedy)
