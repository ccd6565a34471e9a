"""JSON from outside, with a bound on what becomes of it in memory.

A byte or two are enough for an object or a list, which take a hundred in memory; so a request of
a few MiB, or a few KiB where it was compressed, could take as many GiB.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

# Python's own limit on recursion is far above what is ever nested.
_DEEPEST = 64


def bounded_json(content: bytes, most_values: int) -> Any:
    """The document. Raises ValueError for one that is none, too large, or nested too deeply.

    Each value but the first follows a comma or a bracket, and those are counted, the ones within
    texts, too.
    """
    if sum(map(content.count, (b",", b"[", b"{"))) > most_values:
        raise ValueError(f"it has more than {most_values} values")
    try:
        found = json.loads(content, parse_constant=_no_constant)
    except RecursionError:
        raise _too_deep() from None
    _check_depth(found)
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _check_depth(document: Any) -> None:
    """Raise ValueError where it is nested too deeply; level by level, as it may be very deep."""
    level: list[Any] = [document]
    for _ in range(_DEEPEST + 1):
        level = [inner for each in level for inner in _within(each)]
        if not level:
            return
    raise _too_deep()


def _within(value: Any) -> Iterable[Any]:
    """The objects and lists right in it."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return ()
    return [each for each in value if isinstance(each, dict | list)]


def _too_deep() -> ValueError:
    return ValueError(f"it is nested deeper than {_DEEPEST}")
