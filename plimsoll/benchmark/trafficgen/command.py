"""A binary-search.py command line, read exactly: nothing guessed, nothing dropped."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.benchmark.trafficgen.options import OPTIONS, TrafficgenOption, Value
from plimsoll.errors import InputError
from plimsoll.text.mistakes import did_you_mean

_PROGRAM = "binary-search.py"
_INTERPRETER = re.compile(r"python[0-9.]*")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)


@dataclass(frozen=True)
class TrafficgenCommand:
    """The options that were given, the last of each counting, and trafficgen's defaults.

    `said` has the given values as they were written.
    """

    given: Mapping[str, Value]
    said: Mapping[str, str]

    def __getitem__(self, name: str) -> Value:
        return self.given.get(name, OPTIONS[name].default)

    def flag(self, name: str) -> bool:
        """Whether an option without a value was given."""
        return bool(self[name])

    def whole(self, name: str) -> int:
        """A whole number, by default trafficgen's own."""
        return int(self[name])

    def number(self, name: str) -> float:
        """A number, by default trafficgen's own."""
        return float(self[name])

    def text(self, name: str) -> str:
        """Text, by default trafficgen's own."""
        return str(self[name])

    def origin(self, name: str) -> str:
        """Where a value comes from, as a comment says it."""
        if name not in self.given:
            return f"--{name} is {self[name]} by default"
        return self.written(name)

    def written(self, name: str) -> str:
        """The option as on a command line."""
        if OPTIONS[name].form == "flag":
            return f"--{name}"
        return f"--{name} {shlex.quote(self.said[name])}"


def parse_trafficgen_command(words: Sequence[str]) -> TrafficgenCommand:
    """Read the words of a command line, or one word that holds all of it.

    What starts binary-search.py may stand before its options. Raises InputError naming
    the option that it does not have, that lacks its value, or whose value it would refuse.
    """
    given: dict[str, Value] = {}
    said: dict[str, str] = {}
    rest = iter(_options_of(list(words)))
    pending: list[str] = []
    while (word := pending.pop() if pending else next(rest, None)) is not None:
        option, value = _option(word)
        if option.form == "flag":
            given[option.name] = _no_value(option, value)
            continue
        if value is None:
            value, unused = _next_value(option, rest)
            pending += unused
        given[option.name], said[option.name] = _converted(option, value), value
    return TrafficgenCommand(given, said)


def _options_of(words: list[str]) -> list[str]:
    """Without what starts the program."""
    if len(words) == 1 and not words[0].startswith("--"):
        words = _split(words[0])
    before, found, after = _around_program(words)
    if found:
        for word in before:
            if not (word.startswith("-") or _INTERPRETER.fullmatch(_basename(word))):
                raise InputError(
                    f"found {word!r} before {_PROGRAM}",
                    where="command line",
                    remedy=f"begin with {_PROGRAM}, or with python",
                )
        return after
    return words


def _around_program(words: list[str]) -> tuple[list[str], bool, list[str]]:
    for index, word in enumerate(words):
        if word.startswith("--"):
            break
        if _basename(word) == _PROGRAM:
            return words[:index], True, words[index + 1 :]
    return [], False, words


def _basename(word: str) -> str:
    return word.rpartition("/")[2]


def _split(line: str) -> list[str]:
    try:
        # A line that a backslash continues is one line.
        return shlex.split(line.replace("\\\n", " "))
    except ValueError as error:
        raise InputError(
            f"cannot be read: {error}", where="command line", remedy="fix its quotes"
        ) from None


def _option(word: str) -> tuple[TrafficgenOption, str | None]:
    """The option that a word names, and the value that it holds itself."""
    if not word.startswith("--") or word == "--":
        raise InputError(
            f"found {word!r} where an option is due",
            where="command line",
            remedy=f"remove it: {_PROGRAM} takes nothing but options",
        )
    name, equals, value = word[2:].partition("=")
    if name not in OPTIONS:
        raise InputError(
            f"{_PROGRAM} has no option of this name",
            where=f"--{name}",
            remedy=did_you_mean(name, OPTIONS, f"see {_PROGRAM} --help"),
        )
    return OPTIONS[name], value if equals else None


def _no_value(option: TrafficgenOption, value: str | None) -> bool:
    if value is not None:
        raise InputError(
            f"takes no value, and {value!r} was given", where=f"--{option.name}", remedy="remove it"
        )
    return True


def _next_value(option: TrafficgenOption, rest: Iterator[str]) -> tuple[str, list[str]]:
    """The word after an option; and that word again where it is none of its value."""
    word = next(rest, None)
    if word is not None and (word == "--" or not word.startswith("--")):
        return word, []
    if option.form == "toggle":
        return "ON", [] if word is None else [word]
    raise InputError("has no value", where=f"--{option.name}", remedy="give one")


def _converted(option: TrafficgenOption, text: str) -> Value:
    if option.choices and text not in option.choices:
        known = ", ".join(option.choices)
        raise InputError(
            f"{text!r} is not one of its values", where=f"--{option.name}", remedy=f"use {known}"
        )
    if option.form == "whole":
        if not _WHOLE.fullmatch(text):
            raise _not_a(option, text, "whole number")
        return int(text)
    if option.form == "number":
        if not _NUMBER.fullmatch(text) or not math.isfinite(number := float(text)):
            raise _not_a(option, text, "number")
        return number
    return text


def _not_a(option: TrafficgenOption, text: str, expected: str) -> InputError:
    return InputError(
        f"{text[:80]!r} is not a {expected}", where=f"--{option.name}", remedy=f"give a {expected}"
    )
