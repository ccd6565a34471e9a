"""An object of the Kubernetes API, of which anybody may have written any field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

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
