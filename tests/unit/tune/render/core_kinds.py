"""Kubernetes' own kinds, as its Python client knows them: fields, types, what is required."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kubernetes import client

# Older clients write dict(str, V1Pod), newer ones dict[str, V1Pod].
_LIST_OR_DICT = re.compile(r"list\[(?P<item>.+)\]|dict[\[(]str, (?P<value>.+)[\])]")
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "datetime": (str,),
}


def mistakes_in(manifest: dict[str, Any]) -> list[str]:
    """What the API server would refuse of an object of its own kinds, each with its place."""
    return list(_judge(manifest, f"V1{manifest['kind']}", "$"))


def _judge(value: Any, kind: str, place: str) -> Iterator[str]:
    if match := _LIST_OR_DICT.fullmatch(kind):
        yield from _judge_each(value, match, place)
    elif kind in _TYPES:
        # In Python True is an int; in JSON it is none.
        if not isinstance(value, _TYPES[kind]) or isinstance(value, bool) != (kind == "bool"):
            yield f"{place}: {value!r} is no {kind}"
    elif kind != "object":
        yield from _judge_model(value, getattr(client, kind), place)


def _judge_each(value: Any, match: re.Match[str], place: str) -> Iterator[str]:
    if match["item"]:
        if not isinstance(value, list):
            yield f"{place}: {value!r} is no list"
            return
        for number, each in enumerate(value):
            yield from _judge(each, match["item"], f"{place}[{number}]")
    elif not isinstance(value, dict):
        yield f"{place}: {value!r} is no object"
    else:
        for name, each in value.items():
            yield from _judge(each, match["value"], f"{place}.{name}")


def _judge_model(value: Any, model: Any, place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place}: {value!r} is no object"
        return
    attributes = {field: name for name, field in model.attribute_map.items()}
    for field, each in value.items():
        if field not in attributes:
            yield f"{place}: {field} is no field of it"
        else:
            yield from _judge(each, model.openapi_types[attributes[field]], f"{place}.{field}")
    try:
        # It refuses to be made without what is required.
        model(**{attributes[field]: each for field, each in value.items() if field in attributes})
    except ValueError as error:
        yield f"{place}: {error}"
