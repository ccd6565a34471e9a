"""The fields that the form has: those that most experiments change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from plimsoll.dut.registry.labs import lab_kinds
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
