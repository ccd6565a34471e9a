"""Patterns of paths, of the kind that say what a capture collects."""

from __future__ import annotations

import re
from functools import cache


def matches(pattern: str, path: str) -> bool:
    """Whether `path` has the form of `pattern`.

    In a name `*` is any text without "/" and `[0-9]` one of a set; `**` as a whole name is
    any number of names, none too.
    """
    return _compiled(pattern).fullmatch(path) is not None


def parents(pattern: str) -> tuple[str, ...]:
    """The patterns of the directories that must be listed to find what `pattern` names."""
    names = pattern.split("/")
    wild = (place for place, name in enumerate(names) if is_wild(name))
    return tuple("/".join(names[:place]) or "/" for place in wild)


def is_wild(name: str) -> bool:
    """Whether a name stands for more than itself."""
    return "*" in name or "[" in name


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = (_expression(name) for name in pattern.split("/")[1:])
    return re.compile("".join(parts), re.DOTALL)


def _expression(name: str) -> str:
    if name == "**":
        return "(?:/[^/]+)*"
    pieces = re.split(r"(\*|\[[^\]/]+\])", name)
    return "/" + "".join(_piece(piece) for piece in pieces)


def _piece(piece: str) -> str:
    if piece == "*":
        return "[^/]*"
    return piece if piece.startswith("[") else re.escape(piece)
