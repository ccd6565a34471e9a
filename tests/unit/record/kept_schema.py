"""Whether documents of an earlier JSON Schema still keep to a later one: additions only."""

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
# Bounds that a later schema may not draw closer, and the sign of "closer".
_BOUNDS = {"minimum": 1, "exclusiveMinimum": 1, "minItems": 1, "minLength": 1,
           "maximum": -1, "exclusiveMaximum": -1, "maxItems": -1, "maxLength": -1}  # fmt: skip


def lost(earlier: Schema, later: Schema) -> list[str]:
    """What of the earlier schema the later one no longer has, by place."""
    return sorted(set(_lost((earlier, earlier), (later, later), "", frozenset())))


def _lost(
    old: tuple[Schema, Schema], new: tuple[Schema, Schema], place: str, within: frozenset[str]
) -> Iterator[str]:
    """Each schema goes with its document, in which its references are."""
    (a, a_root), (b, b_root) = (_resolved(*old), old[1]), (_resolved(*new), new[1])
    # A part that contains itself is looked at once.
    if (name := old[0].get("$ref", "")) in within:
        return
    within = within | {name} if name else within
    gone = False
    for each in _alternatives(a):
        fitting = [other for other in _alternatives(b) if _fits(each, a_root, other, b_root)]
        if not fitting:
            gone = True
            yield f"{place}: no longer {_shown(each, a_root)}"
        elif len(fitting) == 1:
            yield from _closer(_resolved(each, a_root), _resolved(fitting[0], b_root), place)
    if not gone:
        yield from _lost_parts((a, a_root), (b, b_root), place, within)


def _closer(old: Schema, new: Schema, place: str) -> Iterator[str]:
    for key, sign in _BOUNDS.items():
        if key in new and (key not in old or sign * (new[key] - old[key]) > 0):
            yield f"{place}: {key} is {new[key]}, was {old.get(key)}"


def _lost_parts(
    old: tuple[Schema, Schema], new: tuple[Schema, Schema], place: str, within: frozenset[str]
) -> Iterator[str]:
    (a, a_root), (b, b_root) = _objects(*old), _objects(*new)
    for name, part in a.get("properties", {}).items():
        if name not in b.get("properties", {}):
            yield f"{place}.{name}: is gone"
            continue
        if name in a.get("required", ()) and name not in b.get("required", ()):
            yield f"{place}.{name}: may be missing"
        yield from _lost((part, a_root), (b["properties"][name], b_root), f"{place}.{name}", within)
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(a.get(key), Mapping):
            found = b.get(key, {})
            if not isinstance(found, Mapping):
                yield f"{place}{mark}: is gone"
                continue
            yield from _lost((a[key], a_root), (found, b_root), place + mark, within)
    if a.get("additionalProperties", True) is True and b.get("additionalProperties") is False:
        yield f"{place}: takes no other properties"


def _resolved(schema: Schema, root: Schema) -> Schema:
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def _alternatives(schema: Schema) -> list[Schema]:
    return list(schema.get("anyOf") or schema.get("oneOf") or [schema])


def _objects(schema: Schema, root: Schema) -> tuple[Schema, Schema]:
    """Of a part that may be null, the part."""
    others = [found for each in _alternatives(schema)
              if (found := _resolved(each, root)).get("type") != "null"]  # fmt: skip
    return (others[0] if len(others) == 1 else schema), root


def _fits(old: Schema, old_root: Schema, new: Schema, new_root: Schema) -> bool:
    """Whether the later alternative is of the earlier one's kind and has its values."""
    a, b = _resolved(old, old_root), _resolved(new, new_root)
    if a.get("type") != b.get("type") and (a.get("type"), b.get("type")) != ("integer", "number"):
        return False
    if (values := _values(b)) is not None:
        return set(_values(a) or [...]) <= set(values)
    return a.get("pattern") == b.get("pattern") or "pattern" not in b


def _values(schema: Schema) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _shown(schema: Schema, root: Schema) -> str:
    found = _resolved(schema, root)
    return str(_values(found) or found.get("type", "anything"))
