"""One thing that a user changes in a cluster that was as intended, and what it turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.integration.cluster.owner import Owner

Manifest = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """`fields` are merged into the object `kind` `name`; None takes a field out.

    `part` is the subresource through which they are written; an object that cannot be changed
    is made `anew`. `turned` are the checks that then say something else: verdict, and words.
    """

    title: str
    kind: str
    name: str
    fields: Mapping[str, Any]
    turned: Mapping[int, tuple[str, str]]
    part: str = ""
    anew: bool = False


@contextmanager
def changed(owner: Owner, change: Change, there: list[Manifest]) -> Iterator[None]:
    """The cluster with the change, which is taken back; `there` is what was applied to it."""
    given, *reports = (each for each in there if _is(each, change))
    if change.anew:
        owner.delete(given)
        try:
            owner.apply_all([_merged(given, change.fields), *reports])
            yield
        finally:
            owner.delete(given)
            owner.apply_all([given, *reports])
        return
    before = owner.find(given)
    try:
        owner.patch(given, change.fields, change.part)
        yield
    finally:
        owner.patch(given, _undoing(change.fields, before), change.part)


@contextmanager
def missing(owner: Owner, kind: str, name: str, there: list[Manifest]) -> Iterator[None]:
    """The cluster without the object, which comes back."""
    own = [each for each in there if each["kind"] == kind and each["metadata"]["name"] == name]
    owner.delete(own[0])
    try:
        yield
    finally:
        owner.apply_all(own)


def _is(given: Manifest, change: Change) -> bool:
    return (given["kind"], given["metadata"]["name"]) == (change.kind, change.name)


def _merged(given: Any, changes: Any) -> Any:
    """A JSON merge patch (RFC 7396)."""
    if not isinstance(changes, Mapping):
        return changes
    fields = dict(given) if isinstance(given, Mapping) else {}
    for name, value in changes.items():
        if value is None:
            fields.pop(name, None)
        else:
            fields[name] = _merged(fields.get(name), value)
    return fields


def _undoing(changes: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The merge patch that takes `changes` back."""
    found: dict[str, Any] = {}
    for name, value in changes.items():
        former = before.get(name)
        if isinstance(value, Mapping) and isinstance(former, Mapping):
            found[name] = _undoing(value, former)
        else:
            found[name] = former
    return found
