"""Objects from files of a must-gather, which may come from anybody.

`oc adm inspect` writes plain YAML. Anchors, which a few lines could unfold without end, deep
nesting, which ends libyaml's Python binding with a segmentation fault, and keys that are no
text are in none of its files and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.tune.kubernetes.kube_object import KubeObject, items_at


def parse_objects(content: bytes) -> tuple[KubeObject, ...]:
    """The object of a file, or the objects of a list in it. Raises ValueError with the reason."""
    try:
        found = load_yaml(content.decode(), aliases=False)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None
    return tuple(_objects(found))


def _objects(found: Any) -> Iterator[KubeObject]:
    if not isinstance(found, dict):
        raise ValueError("holds no object")
    _check_keys(found)
    if str(found.get("kind", "")).endswith("List") and isinstance(found.get("items"), list):
        # A list's entries leave out what the list says for all.
        kind = str(found["kind"]).removesuffix("List")
        common = {"apiVersion": found.get("apiVersion")} | ({"kind": kind} if kind else {})
        yield from (common | dict(each) for each in items_at(found, "items"))
    else:
        yield found


def _check_keys(value: Any) -> None:
    if isinstance(value, dict):
        for key, below in value.items():
            if not isinstance(key, str):
                raise ValueError(f"has the key {str(key)[:40]!r}, which is not text")
            _check_keys(below)
    elif isinstance(value, list):
        for below in value:
            _check_keys(below)
