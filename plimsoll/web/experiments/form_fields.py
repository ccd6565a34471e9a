"""The fields that the form has: those that most experiments change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from plimsoll.dut.registry.labs import lab_kinds
from plimsoll.errors import InputError
from plimsoll.search.registry import strategies
from plimsoll.text.document import Document
from plimsoll.text.field_path import FieldPath


@dataclass(frozen=True, slots=True)
class FormField:
    """One field. `path` is where it stands; `choices` where only these are possible."""

    path: str
    label: str
    hint: str
    choices: tuple[str, ...] = ()


def form_fields() -> Sequence[FormField]:
    """In the order of the form."""
    return (
        FormField("name", "Name", "of the run"),
        FormField("lab.kind", "Lab", "the device under test", tuple(lab_kinds())),
        FormField("search.strategy", "Search", "how the load is looked for", strategies()),
        FormField("search.minimum", "Least load", "per direction, such as 50kpps"),
        FormField("search.maximum", "Highest load", "such as 6Mpps, 10Gbps or 80%"),
        FormField("search.duration", "Trial", "length, such as 10s"),
        FormField("search.validation.duration", "Validation", "length, such as 60s or 3h"),
    )


def form_values(document: Document) -> dict[str, str]:
    """The form's values as they are written in the text, by path; without those it lacks."""
    found = {}
    for field in form_fields():
        node = node_at(document.root, FieldPath.parse(field.path).steps)
        if isinstance(node, yaml.ScalarNode):
            found[field.path] = str(node.value)
    return found


def node_at(root: yaml.Node | None, steps: Sequence[str]) -> yaml.Node | None:
    """The value that stands there; None where the text has none."""
    node = root
    for step in steps:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next(
            (
                value
                for key, value in node.value
                if isinstance(key, yaml.ScalarNode) and key.value == step
            ),
            None,
        )
    return node


# Text that YAML takes as it is, and that is no more than a word, a rate or a path.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/%+-]*")
_INDENT = 2


def with_value(document: Document, text: str, path: str, value: str) -> str:
    """`text`, of which `document` was made, with the scalar at `path` (names and dots) set.

    Where the field is missing it is added at the end of what is around it. Raises InputError
    where something else than a scalar stands there.
    """
    steps = path.split(".")
    written = _written(value)
    node = node_at(document.root, steps)
    if node is None:
        return _added(document.root, text, steps, written)
    if not isinstance(node, yaml.ScalarNode):
        raise InputError(
            "is not a single value in this text",
            where=f"line {node.start_mark.line + 1}",
            remedy="change it in the text",
        )
    if _is_empty(node):
        written = f" {written}"
    return text[: node.start_mark.index] + written + text[node.end_mark.index :]


def _added(root: yaml.Node, text: str, steps: Sequence[str], written: str) -> str:
    """With the field in the deepest mapping around it that there is."""
    depth = max(
        (n for n in range(len(steps)) if isinstance(node_at(root, steps[:n]), yaml.MappingNode)),
        default=0,
    )
    around = node_at(root, steps[:depth])
    standing = node_at(root, steps[: depth + 1])
    if not isinstance(around, yaml.MappingNode) or standing is not None:
        line = 1 if standing is None else standing.start_mark.line + 1
        raise InputError(
            "has no fields in this text", where=f"line {line}", remedy="change it in the text"
        )
    missing = steps[depth:]
    if around.flow_style:
        end = around.end_mark.index - 1
        comma = ", " if around.value else ""
        return text[:end].rstrip() + comma + _flow(missing, written) + text[end:]
    return _added_to_block(around, text, missing, written)


def _added_to_block(
    around: yaml.MappingNode, text: str, missing: Sequence[str], written: str
) -> str:
    column = around.start_mark.column
    lines = [" " * (column + _INDENT * depth) + f"{step}:" for depth, step in enumerate(missing)]
    lines[-1] += f" {written}"
    end = _end_of(around, text)
    break_before = "" if not text[:end] or text[:end].endswith("\n") else "\n"
    return text[:end] + break_before + "\n".join(lines) + "\n" + text[end:]


def _end_of(around: yaml.MappingNode, text: str) -> int:
    """Where the line of the block's last value ends, its comment included."""
    node: yaml.Node = around
    while isinstance(node, yaml.MappingNode | yaml.SequenceNode) and node.value:
        if node is not around and node.flow_style:
            break
        tail = node.value[-1]
        node = tail[1] if isinstance(tail, tuple) else tail
    end = int(node.end_mark.index)
    # A block of text ends where the next line begins.
    if text[end - 1 : end] == "\n":
        return end
    newline = text.find("\n", end)
    return len(text) if newline < 0 else newline + 1


def _flow(missing: Sequence[str], written: str) -> str:
    inner = f"{missing[-1]}: {written}"
    for step in reversed(missing[:-1]):
        inner = f"{step}: {{{inner}}}"
    return inner


def _written(value: str) -> str:
    """As YAML that reads back as this very text, or as the number that it is."""
    plain = value.strip()
    if _PLAIN.fullmatch(plain):
        return plain
    quoted: str = yaml.safe_dump(plain, default_style='"', width=2**31, allow_unicode=True)
    return quoted.strip()


def _is_empty(node: yaml.ScalarNode) -> bool:
    return node.start_mark.index == node.end_mark.index
