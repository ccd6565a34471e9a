"""An object of the Kubernetes API, of which anybody may have written any field.

Objects from files of a must-gather, which may come from anybody. `oc adm inspect` writes plain
YAML. Anchors, which a few lines could unfold without end, deep nesting, which ends libyaml's
Python binding with a segmentation fault, and keys that are no text are in none of its files and
are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from plimsoll.text.bounded_yaml import load_yaml

# As JSON or YAML has it. Nothing below the first level is known to be of any shape.
KubeObject: TypeAlias = Mapping[str, Any]


def value_at(holder: Any, *path: str) -> Any:
    """The value down a path of fields; None where there is none."""
    for part in path:
        holder = holder.get(part) if isinstance(holder, Mapping) else None
    return holder


def text_at(holder: Any, *path: str) -> str:
    """The text there; empty where there is none."""
    found = value_at(holder, *path)
    return found if isinstance(found, str) else ""


def number_at(holder: Any, *path: str) -> int | None:
    """The whole number there; None where there is none."""
    found = value_at(holder, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def mapping_at(holder: Any, *path: str) -> Mapping[str, Any]:
    """The fields there; empty where there are none."""
    found = value_at(holder, *path)
    return found if isinstance(found, Mapping) else {}


def texts_at(holder: Any, *path: str) -> dict[str, str]:
    """The fields there that hold text: labels, annotations, resources."""
    fields = mapping_at(holder, *path)
    return {str(name): value for name, value in fields.items() if isinstance(value, str)}


def items_at(holder: Any, *path: str) -> tuple[Mapping[str, Any], ...]:
    """Those entries of the list there that have fields."""
    found = value_at(holder, *path)
    entries = found if isinstance(found, list) else []
    return tuple(each for each in entries if isinstance(each, Mapping))


def name_of(given: KubeObject) -> str:
    """The object's name."""
    return text_at(given, "metadata", "name")


def namespace_of(given: KubeObject) -> str:
    """The object's namespace; empty for one of the whole cluster."""
    return text_at(given, "metadata", "namespace")


def full_name(given: KubeObject) -> str:
    """The name, after its namespace where it has one: default/testpmd."""
    namespace = namespace_of(given)
    return f"{namespace}/{name_of(given)}" if namespace else name_of(given)


def labels_of(given: KubeObject) -> dict[str, str]:
    """The object's labels."""
    return texts_at(given, "metadata", "labels")


def annotations_of(given: KubeObject) -> dict[str, str]:
    """The object's annotations."""
    return texts_at(given, "metadata", "annotations")


def condition(given: KubeObject, kind: str) -> Mapping[str, Any]:
    """The condition of that type among the object's; empty where it has none."""
    found = (each for each in items_at(given, "status", "conditions") if each.get("type") == kind)
    return next(found, {})


def is_true(given: KubeObject, kind: str) -> bool:
    """Whether the object's condition of that type is True."""
    return condition(given, kind).get("status") == "True"


# k8s.io/apimachinery, pkg/api/resource: the grammar of Quantity.
_QUANTITY = re.compile(
    r"([+-]?\d{1,30}(?:\.\d{0,30})?)(?:([eE][+-]?\d{1,2})|([a-zA-Z]{0,2}))", re.ASCII
)
_SCALES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    **{suffix: Fraction(1000**power) for power, suffix in enumerate("kMGTPE", 1)},
    **{f"{suffix}i": Fraction(1024**power) for power, suffix in enumerate("KMGTPE", 1)},
}


def parse_quantity(given: object) -> Fraction:
    """The amount, exactly. Raises ValueError if it is not one."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        # YAML's bare 4 and 0.5.
        given = str(given)
    match = _QUANTITY.fullmatch(given) if isinstance(given, str) else None
    if match is None or (match[3] or "") not in _SCALES:
        raise ValueError(f"{str(given)[:40]!r} is not a quantity")
    number = Fraction(match[1].rstrip(".") + (match[2] or ""))
    return number * _SCALES[match[3] or ""]


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
