"""Which rows of an answer are shown: those whose value over the whole range passes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from plimsoll.errors import InputError

ComparisonOperator = Literal["gt", "ge", "lt", "le", "eq"]

_SQL: Mapping[ComparisonOperator, str] = {"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "="}
_REMEDY = "write gt, ge, lt, le or eq, a colon and a number, such as gt:0.5"


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
