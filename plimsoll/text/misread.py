"""What YAML takes for a number or a date where a PCI address or a MAC address was written.

YAML 1.1, which PyYAML reads, knows numbers in base 60 (1:30), octal (010), binary, hexadecimal
and with underscores; YAML 1.2, by which editors complete, reads most of them otherwise. No
document of ours means one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from plimsoll.text.mistakes import brief, dotted

_TAG = "tag:yaml.org,2002:"
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_OCTAL = re.compile(r"([-+]?)0+([0-7]+)", re.ASCII)
_QUOTES = "put it in quotes"
_COLON = f"{_QUOTES} if it is text; a number has no colon"


@dataclass(frozen=True, slots=True)
class Misread:
    """A value that is not what was written; `line` is from 1."""

    field: str
    line: int
    problem: str
    remedy: str


def misread(root: yaml.Node | None) -> list[Misread]:
    """Each of a document, in the order of its lines."""
    return [] if root is None else list(_within(root, "", set()))


def _within(node: yaml.Node, field: str, seen: set[int]) -> Iterator[Misread]:
    """`seen` are nodes, which aliases lead to again."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        yield from _scalar(node, field)
    elif isinstance(node, yaml.SequenceNode):
        for number, each in enumerate(node.value):
            yield from _within(each, field + dotted([number]), seen)
    elif isinstance(node, yaml.MappingNode):
        for key, each in node.value:
            name = brief(key.value)[1:-1] if isinstance(key, yaml.ScalarNode) else "?"
            below = f"{field}.{name}" if field else name
            yield from _within(key, below, seen) if not _is_truth(key) else _truth(key, below)
            yield from _within(each, below, seen)


def _is_truth(key: yaml.Node) -> bool:
    return isinstance(key, yaml.ScalarNode) and key.tag == f"{_TAG}bool" and not key.style


def _truth(key: yaml.ScalarNode, field: str) -> Iterator[Misread]:
    """A field's name, such as on or no, that YAML takes for true or false."""
    taken_for = str(yaml.SafeLoader("").construct_yaml_bool(key)).lower()
    yield Misread(
        field, key.start_mark.line + 1, f"YAML takes {key.value} for {taken_for}", _QUOTES
    )


def _scalar(node: yaml.ScalarNode, field: str) -> Iterator[Misread]:
    # In quotes it is text, unless a tag says otherwise.
    if found := _taken_for(node):
        taken_for, remedy = found
        problem = f"YAML takes {brief(node.value)[1:-1]} for {taken_for}"
        yield Misread(field, node.start_mark.line + 1, problem, remedy)


def _taken_for(node: yaml.ScalarNode) -> tuple[str, str] | None:
    """What it was taken for, and what to write; None where it is what was written."""
    kind = node.tag.removeprefix(_TAG)
    if kind == "timestamp":
        return "a date", _QUOTES
    if kind == "int" and not _WHOLE.fullmatch(node.value):
        number = yaml.SafeLoader("").construct_yaml_int(node)
        return f"the number {brief(number)}", _whole_remedy(node.value, number)
    if kind == "float" and re.search("[:_]", node.value):
        share = brief(yaml.SafeLoader("").construct_yaml_float(node))
        return f"the number {share}", _COLON if ":" in node.value else _or_quotes(share)
    return None


def _whole_remedy(written: str, number: int) -> str:
    if ":" in written:
        return _COLON
    if octal := _OCTAL.fullmatch(written):
        decimal = f"{octal[1]}{octal[2]}".removeprefix("+")
        return _or_quotes(f"{decimal}, or {number} if octal is meant")
    return _or_quotes(brief(number))


def _or_quotes(number: str) -> str:
    return f"write {number}, or {_QUOTES} if it is text"
