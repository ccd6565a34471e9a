"""Objects from files of a must-gather, which may come from anybody.

`oc adm inspect` writes plain YAML. Anchors, which a few lines could unfold without end, deep
nesting, which ends libyaml's Python binding with a segmentation fault, and keys that are no
text are in none of its files and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from plimsoll.tune.kube.kube_object import KubeObject, items_at

_DEEPEST = 100
# libyaml's, where PyYAML was built with it: ten times as fast.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_objects(content: bytes) -> tuple[KubeObject, ...]:
    """The object of a file, or the objects of a list in it. Raises ValueError with the reason."""
    try:
        text = content.decode()
        _check_structure(text)
        found = yaml.load(text, Loader=_LOADER)  # noqa: S506 the loader is a safe one
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ValueError(f"{line}{error.problem or 'is not YAML'}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"is not YAML ({type(error).__name__})") from None
    return tuple(_objects(found))


def _check_structure(text: str) -> None:
    """One pass over the events, which takes no recursion however deep they nest."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ValueError(f"{_line(event)}has an anchor or alias")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            raise ValueError(f"{_line(event)}is nested too deeply")


def _line(event: yaml.Event) -> str:
    return f"line {event.start_mark.line + 1}: " if event.start_mark else ""


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
                raise ValueError(f"has the key {str(key)[:40]!r}, which is no text")
            _check_keys(below)
    elif isinstance(value, list):
        for below in value:
            _check_keys(below)
