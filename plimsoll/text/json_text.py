"""JSON read as JSON: its numbers and characters are not YAML's.

YAML 1.1 reads 1e5 as text, and takes the two halves of a surrogate pair for two characters. What
is JSON is parsed as such, and its nodes are PyYAML's, by which mistakes find their lines.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import Any, NoReturn

import yaml

_TAG = "tag:yaml.org,2002:"
_BLANK = " \t\n\r"
_BYTE_ORDER_MARK = "\ufeff"


def parse_json(text: str) -> Any:
    """The object or list that `text` holds; None where it is not JSON."""
    plain = text.removeprefix(_BYTE_ORDER_MARK)
    if plain.lstrip(_BLANK)[:1] not in ("{", "["):
        return None
    try:
        return json.loads(plain, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def depth(value: Any) -> int:
    """How deep lists and objects nest in it, without recursion."""
    deepest, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list) and each]:
        deepest += 1
        level = [below for each in level for below in _below(each)]
    return deepest


def json_nodes(text: str) -> yaml.Node:
    """The nodes of what `parse_json` accepted and is not nested too deep for recursion.

    Raises yaml.MarkedYAMLError for a key given twice, and for half a surrogate pair.
    """
    return _Reader(text).node(1 if text.startswith(_BYTE_ORDER_MARK) else 0)[0]


def _no_constant(name: str) -> NoReturn:
    """NaN and Infinity, which Python reads, are not JSON."""
    raise ValueError(f"{name} is not JSON")


def _below(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


class _Reader:
    """Positions in a text that is known to be JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(at + 1 for at, each in enumerate(text) if each == "\n")]
        self._decoder = json.JSONDecoder()

    def node(self, begin: int) -> tuple[yaml.Node, int]:
        """The value that begins at or after `begin`, and where it ends."""
        begin = self._skip(begin)
        match self._text[begin]:
            case "{":
                return self._mapping(begin)
            case "[":
                return self._sequence(begin)
        return self._scalar(begin)

    def _mapping(self, begin: int) -> tuple[yaml.Node, int]:
        pairs: list[tuple[yaml.Node, yaml.Node]] = []
        seen: set[str] = set()
        at = self._skip(begin + 1)
        while self._text[at] != "}":
            key, at = self._scalar(self._skip(at))
            if key.value in seen:
                raise self._error(f"{key.value!r} is given twice", key.start_mark)
            seen.add(key.value)
            value, at = self.node(self._skip(at) + 1)
            pairs.append((key, value))
            at = self._next(at)
        marks = self._mark(begin), self._mark(at + 1)
        return yaml.MappingNode(f"{_TAG}map", pairs, *marks, flow_style=True), at + 1

    def _sequence(self, begin: int) -> tuple[yaml.Node, int]:
        items: list[yaml.Node] = []
        at = self._skip(begin + 1)
        while self._text[at] != "]":
            item, at = self.node(at)
            items.append(item)
            at = self._next(at)
        marks = self._mark(begin), self._mark(at + 1)
        return yaml.SequenceNode(f"{_TAG}seq", items, *marks, flow_style=True), at + 1

    def _scalar(self, begin: int) -> tuple[yaml.ScalarNode, int]:
        value, end = self._decoder.raw_decode(self._text, begin)
        written = value if isinstance(value, str) else self._text[begin:end]
        start = self._mark(begin)
        if any("\ud800" <= each <= "\udfff" for each in written):
            raise self._error("half a surrogate pair is not a character", start)
        style = '"' if isinstance(value, str) else None
        kind = {str: "str", bool: "bool", int: "int", float: "float"}.get(type(value), "null")
        return yaml.ScalarNode(_TAG + kind, written, start, self._mark(end), style), end

    def _next(self, at: int) -> int:
        """Behind the comma after an item, or at the bracket that ends its collection."""
        at = self._skip(at)
        return self._skip(at + 1) if self._text[at] == "," else at

    def _skip(self, at: int) -> int:
        while self._text[at] in _BLANK:
            at += 1
        return at

    def _mark(self, index: int) -> Any:
        line = bisect_right(self._lines, index) - 1
        return yaml.Mark("<json>", index, line, index - self._lines[line], None, 0)

    def _error(self, problem: str, mark: Any) -> yaml.MarkedYAMLError:
        return yaml.MarkedYAMLError(None, None, problem, mark)
