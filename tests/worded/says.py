"""What is said, by the facts in it, and to the letter by a file of tests/wording.

    assert caught.value == says("pool.selector", "0")

The facts (a place, a value, a remedy's command) stand in the test, and hold whatever the words
are. The words stand in tests/wording, which `make wording` writes anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from typing import Protocol

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tests.worded.placeholders import stable

_LONG = 240
_BLOCK = re.compile(r"</?(?:p|div|h\d|li|ul|ol|t[rdh]|table|section|summary|title|d[tdl])\b[^>]*>")


class Held(Protocol):
    """The wording of one place in a test."""

    def holds(self, text: str) -> str:
        """Why this is not what the file has, or nothing."""

    def __str__(self) -> str: ...


def rendered(said: object) -> str:
    """An error with its place and remedy, lines, or whatever has a text."""
    match said:
        case (
            object(message=str() as message, remedy=str() as remedy)
            | object(reason=str() as message, remedy=str() as remedy)
            | object(text=str() as message, remedy=str() as remedy)
        ):
            where = getattr(said, "where", "") or getattr(said, "field", "")
            lines = (f"{where}:" if where else "", message, remedy and f"remedy: {remedy}")
            return "\n".join(line for line in lines if line)
        case ValidationError():
            return "\n".join(_line_of(error) for error in said.errors(include_url=False))
        case list() | tuple():
            return "\n".join(rendered(each) for each in said)
        case _:
            return str(said)


def _line_of(error: ErrorDetails) -> str:
    """One of pydantic's errors: its place, its message, and the remedy that is ours."""
    place = ".".join(map(str, error["loc"]))
    remedy = error.get("ctx", {}).get("remedy", "")
    return f"{place}: {error['msg']}" + (f"\nremedy: {remedy}" if remedy else "")


def stands_in(fact: str, text: str) -> bool:
    """Whether it does, and not merely as a part of a longer word or number."""
    before = r"(?<!\w)" if fact[:1].isalnum() else ""
    after = r"(?!\w)" if fact[-1:].isalnum() else ""
    return re.search(before + re.escape(fact) + after, text) is not None


class Statement:
    """Equal to each text that has these facts, and the words that the file has."""

    def __init__(self, held: Held, facts: tuple[str, ...]) -> None:
        self._held = held
        self._facts = facts
        self._reason = ""

    def __eq__(self, said: object) -> bool:
        text = rendered(said)
        missing = [fact for fact in self._facts if not stands_in(fact, text)]
        if missing:
            self._reason = f"not in it: {', '.join(map(repr, missing))}"
        else:
            self._reason = self._held.holds(stable(text)) if text.strip() else "nothing is said"
        return not self._reason

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._held}: {self._reason}>" if self._reason else f"<{self._held}>"

    def explained(self, said: object) -> list[str]:
        """For pytest, where it is not equal."""
        return [f"{self._held}: {self._reason}", *stable(rendered(said)).splitlines()]


class Says:
    """Of one test: each call is the next of its wordings."""

    def __init__(self, held: Callable[[int], Held]) -> None:
        self._held = held
        self._count = 0

    def __call__(self, *facts: str) -> Statement:
        self._count += 1
        return Statement(self._held(self._count), facts)


def passage(text: str | Iterable[str], *facts: str) -> list[str]:
    """Those lines of an output, or sentences of a page, in which all of these facts are."""
    lines = _sentences(text) if isinstance(text, str) else text
    return [
        " ".join(line.split()) for line in lines if all(stands_in(fact, line) for fact in facts)
    ]


def _sentences(text: str) -> Iterator[str]:
    """Lines; where a line is a page's whole text, its sentences."""
    if "</" in text:
        text = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", text)
        text = unescape(re.sub(r"<[^>]+>", "", _BLOCK.sub("\n", text)))
    for line in text.splitlines():
        yield from re.split(r"(?<=[.:?]) (?=[A-Z])", line) if len(line) > _LONG else [line]
