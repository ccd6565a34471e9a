"""What YAML takes for a number or a date where a PCI address or a list of CPUs was written.

YAML 1.1, which PyYAML reads, knows numbers in base 60 (1:30), octal (010), hexadecimal and with
underscores; YAML 1.2, by which editors complete, does not. No intent means one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from plimsoll.errors import InputError
from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.text.document import Document
from plimsoll.text.mistakes import brief

_TAG = "tag:yaml.org,2002:"
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_MOST_NAMED = 20


def check_misread(document: Document) -> None:
    """Raises InputError with file, line and field of each."""
    found = [
        InputError(f"{field}: YAML takes {brief(node.value)[1:-1]} for {taken_for}", where=where)
        for field, node, taken_for in _misread(document.root, "", set())
        for where in [f"{document.path}:{node.start_mark.line + 1}"]
    ]
    remedy = "put it in quotes"
    if len(found) == 1:
        raise InputError(found[0].message, where=found[0].where, remedy=remedy)
    if found:
        listing = "".join(f"\n  {each} ({remedy})" for each in found[:_MOST_NAMED])
        more = f"\n  and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        raise InputError(f"{len(found)} mistakes:{listing}{more}", where=str(document.path))


def _misread(
    node: yaml.Node, field: str, seen: set[int]
) -> Iterator[tuple[str, yaml.ScalarNode, str]]:
    """(field, value, what YAML made of it); `seen` are nodes, which aliases lead to again."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        # Without quotes it is None in Python, and nothing by libyaml.
        if not node.style and (taken_for := _taken_for(node)):
            yield field, node, taken_for
    elif isinstance(node, yaml.SequenceNode):
        for number, each in enumerate(node.value):
            yield from _misread(each, f"{field}[{number}]", seen)
    elif isinstance(node, yaml.MappingNode):
        for key, each in node.value:
            name = brief(key.value)[1:-1] if isinstance(key, yaml.ScalarNode) else "?"
            yield from _misread(each, f"{field}.{name}" if field else name, seen)


def _taken_for(node: yaml.ScalarNode) -> str:
    """Empty where it is what was written."""
    kind = node.tag.removeprefix(_TAG)
    if kind == "timestamp":
        return "a date"
    odd = kind == "int" and not _WHOLE.fullmatch(node.value)
    if odd or (kind == "float" and re.search("[:_]", node.value)):
        return f"the number {brief(load_yaml(node.value))}"
    return ""
