r"""Breakouts: by which names an answer is split, and which of their values count.

    a            splits by every value of a
    a=v1+v2      only these values, a row each
    a=r/regex/   only values that the regex matches, a row each
    a=R/regex/   only values that the regex matches, all of them in one row

Breakouts are separated by commas. A regex is RE2's and has to match the whole value. It ends
at the first slash that is followed by a comma or by the end; inside it, such a slash is
written `\/`. Everywhere else a backslash takes the next character as it is: `a=x\,y\+z`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from plimsoll.errors import InputError

BreakoutKind = Literal["every", "values", "each-match", "all-matches"]

_OPTION = "--breakout"
_REGEX_KINDS: dict[str, BreakoutKind] = {"r/": "each-match", "R/": "all-matches"}
# Up to a slash that a comma or the end follows; a backslash keeps the next character in.
_REGEX = re.compile(r"((?:\\.|[^\\])*?)/(?=,|\Z)", re.DOTALL)
# Up to one of the marks that follow; a backslash keeps the next character in.
_TO_COMMA = re.compile(r"((?:\\.|[^\\,])*)", re.DOTALL)
_TO_EQUALS = re.compile(r"((?:\\.|[^\\,=])*)", re.DOTALL)
_TO_PLUS = re.compile(r"((?:\\.|[^\\+])*)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Breakout:
    """A name, and what of its values counts. `typed` is how the user wrote it, as headings are.

    `values` is set for the kind "values" alone, `pattern` for both kinds of matches.
    """

    name: str
    kind: BreakoutKind = "every"
    values: tuple[str, ...] = ()
    pattern: str = ""
    typed: str = ""

    @property
    def heading(self) -> str:
        """What stands above its column."""
        return self.typed or self.name


def parse_breakouts(text: str) -> tuple[Breakout, ...]:
    """The breakouts of a comma-separated list. Raises InputError."""
    found = tuple(_items(text))
    names = [breakout.name for breakout in found]
    for name in names:
        if names.count(name) > 1:
            raise _mistake(text, f"names {name!r} twice", "name it once")
    return found


def _items(text: str) -> Iterator[Breakout]:
    place = 0
    while True:
        breakout, end = _item(text, place)
        yield breakout
        if end == len(text):
            return
        place = end + 1


def _item(text: str, begin: int) -> tuple[Breakout, int]:
    """The breakout that begins there, and where the comma after it is, or the end."""
    end = _match(_TO_EQUALS, text, begin).end()
    name = _plain(text[begin:end].strip())
    if not name:
        raise _mistake(text, "has a breakout without a name", "write names, such as num,type")
    if not text.startswith("=", end):
        return Breakout(name, typed=text[begin:end].strip()), _closed(text, end)
    kind = _REGEX_KINDS.get(text[end + 1 : end + 3])
    if kind is None:
        values, end = _values(text, end + 1)
        return Breakout(name, "values", values, typed=text[begin:end].strip()), end
    pattern, end = _regex(text, end + 3)
    return Breakout(name, kind, pattern=pattern, typed=text[begin:end].strip()), end


def _values(text: str, begin: int) -> tuple[tuple[str, ...], int]:
    end = _closed(text, _match(_TO_COMMA, text, begin).end())
    listed, place = text[begin:end], 0
    values: list[str] = []
    while place <= len(listed):
        stop = _match(_TO_PLUS, listed, place).end()
        values.append(_plain(listed[place:stop]))
        place = stop + 1
    if not all(values):
        remedy = r"write values with + between them, such as num=5+9; a + in a value is \+"
        raise _mistake(text, "has a breakout with an empty value", remedy)
    return tuple(dict.fromkeys(values)), end


def _regex(text: str, begin: int) -> tuple[str, int]:
    found = _REGEX.match(text, begin)
    if found is None:
        remedy = "end it with a slash that a comma or the end follows, such as desc=r/i40e-.*/"
        raise _mistake(text, "has a regex without an end", remedy)
    if not found[1]:
        raise _mistake(text, "has an empty regex", "write one, such as desc=r/i40e-.*/")
    return found[1], found.end()


def _closed(text: str, end: int) -> int:
    """`end`, where all that may stop a name or value is a comma or the end."""
    if end < len(text) and text[end] == "\\":
        raise _mistake(text, "ends in a backslash", r"write \\ for a backslash")
    return end


def _match(pattern: re.Pattern[str], text: str, begin: int) -> re.Match[str]:
    found = pattern.match(text, begin)
    assert found is not None  # noqa: S101 - each of them matches the empty text
    return found


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _mistake(text: str, problem: str, remedy: str) -> InputError:
    return InputError(f"{text!r} {problem}", where=_OPTION, remedy=remedy)
