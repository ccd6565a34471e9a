"""YAML from anywhere: how deep it nests and what its aliases unfold to is known before it is built.

PyYAML builds nested values by recursion: in Python that ends in a RecursionError, in libyaml's
binding in a segmentation fault. Aliases let a few lines stand for more values than memory
holds, once something walks through them. A pass over the parser's events finds both first,
without recursion and without keeping anything.

JSON read as JSON: its numbers and characters are not YAML's. YAML 1.1 reads 1e5 as text, and takes
the two halves of a surrogate pair for two characters. What is JSON is parsed as such, and its
nodes are PyYAML's, by which mistakes find their lines.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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


# Experiments, intents and cluster objects nest some ten deep.
MAX_DEEP = 100
# Nodes, aliases unfolded: hundreds of times what the largest experiment has.
MAX_NODES = 1_000_000
# libyaml's, where PyYAML was built with it: ten times as fast.
QUICK_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class UnboundedYaml(yaml.MarkedYAMLError):
    """It nests too deep, unfolds to too much, or has aliases where none may be."""


@dataclass
class _Walk:
    """Where the pass is: the collections that are open, and what each anchor unfolds to.

    `sizes` holds, for each open collection, the nodes in it so far and its anchor.
    """

    aliases: bool
    anchors: dict[str, int] = field(default_factory=dict)
    sizes: list[tuple[int, str | None]] = field(default_factory=lambda: [(0, None)])

    def take(self, event: yaml.Event) -> None:
        anchor = getattr(event, "anchor", None)
        if anchor is not None and not self.aliases:
            raise _refused(event, "has an anchor or alias")
        if isinstance(event, yaml.AliasEvent):
            self._add(event, self._unfolded(event, anchor))
        elif isinstance(event, yaml.ScalarEvent):
            self._name(anchor, 1)
            self._add(event, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            self.sizes.append((1, anchor))
            if len(self.sizes) - 1 > MAX_DEEP:
                raise _refused(event, "is nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            size, anchor = self.sizes.pop()
            self._name(anchor, size)
            self._add(event, size)

    def _name(self, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = size

    def _unfolded(self, event: yaml.Event, anchor: str | None) -> int:
        if any(name == anchor for _, name in self.sizes):
            raise _refused(event, "has an alias of something that it is a part of")
        # Of an anchor that is not there the parser's own error tells.
        return self.anchors.get(anchor or "", 1)

    def _add(self, event: yaml.Event, nodes: int) -> None:
        size, anchor = self.sizes[-1]
        if size + nodes > MAX_NODES:
            raise _refused(event, f"holds more than {MAX_NODES:,} values, aliases unfolded")
        self.sizes[-1] = (size + nodes, anchor)


def check_bounds(text: str, loader: Any = QUICK_LOADER, *, aliases: bool = True) -> None:
    """Raise UnboundedYaml, with the line, for what must not be built by `loader`.

    Without `aliases` an anchor is refused, too. Raises yaml.YAMLError for invalid YAML.
    """
    walk = _Walk(aliases)
    for event in yaml.parse(text, Loader=loader):
        walk.take(event)


def check_json_depth(value: Any) -> None:
    """Raise UnboundedYaml for what `parse_json` read and is nested too deep."""
    if depth(value) > MAX_DEEP:
        raise UnboundedYaml(None, None, "is nested too deeply")


def load_yaml(text: str, *, aliases: bool = True) -> Any:
    """The plain values that `text` holds, as YAML 1.1 or, where it is JSON, as JSON has them.

    Raises ValueError with the reason, and the line where it has one, for what is not valid YAML,
    holds more than plain values, or is beyond the bounds.
    """
    try:
        if (value := parse_json(text)) is not None:
            check_json_depth(value)
            return value
        check_bounds(text, aliases=aliases)
        return yaml.load(text, Loader=QUICK_LOADER)  # noqa: S506 the loader is a safe one
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ValueError(f"{line}{error.problem or 'is not YAML'}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"is not YAML ({type(error).__name__})") from None


def _refused(event: yaml.Event, what: str) -> UnboundedYaml:
    mark: Any = event.start_mark
    return UnboundedYaml(None, None, what, mark)


# Text that needs no quotes unless it looks like a number, a date or a word of YAML's.
_PLAIN = re.compile(r"[A-Za-z0-9_./%+-][A-Za-z0-9_./%+:-]*")


@dataclass(frozen=True)
class Noted:
    """A value, and what is said about it at the end of its line."""

    value: Any
    note: str


def commented_yaml(document: Mapping[str, Any], heading: Sequence[str] = ()) -> str:
    """The document as YAML, with notes as comments, after a heading of comment lines.

    Mappings are written a field a line, lists of mappings an item a paragraph, and all else
    in one line.
    """
    lines = [f"# {line}".rstrip() for line in heading]
    for key, value in document.items():
        lines += ["", *_field(key, value, "")] if lines else _field(key, value, "")
    return "\n".join(lines) + "\n"


def _field(key: str, value: Any, indent: str) -> Iterator[str]:
    plain, note = (value.value, value.note) if isinstance(value, Noted) else (value, "")
    comment = f" # {_one_line(note)}" if note else ""
    if isinstance(plain, Mapping) and plain:
        yield f"{indent}{_flow(key)}:{comment}"
        for name, each in plain.items():
            yield from _field(name, each, f"{indent}  ")
    elif _is_list_of_mappings(plain):
        yield f"{indent}{_flow(key)}:{comment}"
        for each in plain:
            yield from _item(each, f"{indent}  ")
    else:
        yield f"{indent}{_flow(key)}: {_flow(plain)}{comment}"


def _item(item: Any, indent: str) -> Iterator[str]:
    plain, note = (item.value, item.note) if isinstance(item, Noted) else (item, "")
    if note:
        yield f"{indent}# {_one_line(note)}"
    lines = [line for name, each in plain.items() for line in _field(name, each, f"{indent}  ")]
    yield f"{indent}- {lines[0].lstrip()}"
    yield from lines[1:]


def _is_list_of_mappings(value: Any) -> bool:
    items = value if isinstance(value, list | tuple) else ()
    plain = [each.value if isinstance(each, Noted) else each for each in items]
    return bool(plain) and all(isinstance(each, Mapping) and each for each in plain)


def _flow(value: Any) -> str:
    """In one line, quoted where YAML would read something else."""
    if isinstance(value, Noted):
        return _flow(value.value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_flow(key)}: {_flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flow, value))}]"
    # Plain text that spans lines, or that ends a list, is quoted.
    quoted = isinstance(value, str) and not _PLAIN.fullmatch(value)
    text: str = yaml.safe_dump(value, default_style='"' if quoted else None, width=2**31)
    return text.removesuffix("\n").removesuffix("\n...")


def _one_line(note: str) -> str:
    """What a comment may hold: printable, and no line's end."""
    return "".join(each if each.isprintable() else " " for each in note)
