"""What of a wanted object another one does not have: a structural comparison of a part.

Only fields that are wanted count. How two values are compared depends on what they mean:
"0,1" and "0-1" are one list of CPUs, and a text may itself be JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

_LONGEST_VALUE = 100
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Difference:
    """At `path`: no value, or another; or a list that lacks the wanted or has more."""

    path: str
    kind: Literal["missing", "different", "lacking", "extra"]
    wanted: str = ""
    found: str = ""

    def __str__(self) -> str:
        words = {
            "missing": f"is not set, and should be {self.wanted}",
            "different": f"is {self.found}, not {self.wanted}",
            "lacking": f"lacks {self.wanted}",
            "extra": f"has {self.found}, which nobody asked for",
        }
        return f"{self.path} {words[self.kind]}"


@dataclass(frozen=True, slots=True)
class Meanings:
    """What the fields of a kind mean, by dotted path; `*` is any entry of a list, or any field.

    `reads` turns a value into what it means; where that has fields, they are compared one by
    one. It raises ValueError for a value without meaning. `defaults` are what a field that is
    not set means. `keys` are the fields that tell the entries of a list apart. `whole` are
    mappings, and lists with keys, in which what is not wanted counts too, as in a selector.
    Lists of plain values are compared as sets, where it always counts.
    """

    reads: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()


PLAIN = Meanings()


def differences(wanted: Any, found: Any, meanings: Meanings = PLAIN) -> tuple[Difference, ...]:
    """What `found` lacks of `wanted`, in the order of the wanted."""
    return tuple(_Comparison(meanings).compare(_Place(), wanted, found))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in an object: as people write it, and as Meanings has it; `sibling` for any field."""

    path: str = ""
    shape: str = ""
    sibling: str = ""

    def field(self, name: str) -> _Place:
        plain = name.replace("-", "").replace("_", "").isalnum()
        dot = "." if self.path else ""
        path = f"{self.path}{dot}{name}" if plain else f"{self.path}[{json.dumps(name)}]"
        return _Place(path, self._below(name), self._below(_ANY))

    def entry(self, label: str) -> _Place:
        return _Place(f"{self.path}[{label}]", self._below(_ANY))

    def _below(self, name: str) -> str:
        return f"{self.shape}.{name}" if self.shape else name


class _Absent:
    """No value at all, which is not the same as null."""


_ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class _Comparison:
    meanings: Meanings

    def compare(self, place: _Place, wanted: Any, found: Any) -> Iterator[Difference]:
        if isinstance(found, _Absent) or found is None:
            found = self.meanings.defaults.get(place.shape, _ABSENT)
        reads = self.meanings.reads
        read = reads.get(place.shape) or reads.get(place.sibling)
        if read is not None:
            yield from self._compare_meant(place, wanted, found, read)
        elif isinstance(wanted, Mapping):
            yield from self._compare_fields(place, wanted, found)
        elif isinstance(wanted, list | tuple):
            yield from self._compare_lists(place, wanted, found)
        elif isinstance(found, _Absent):
            if wanted is not None:
                yield Difference(place.path, "missing", shown(wanted))
        elif not _equal(wanted, found):
            yield Difference(place.path, "different", shown(wanted), shown(found))

    def _compare_meant(
        self, place: _Place, wanted: Any, found: Any, read: Callable[[Any], Any]
    ) -> Iterator[Difference]:
        if isinstance(found, _Absent):
            yield Difference(place.path, "missing", shown(wanted))
            return
        meant = read(wanted)
        try:
            given = read(found)
        except ValueError as error:
            yield Difference(place.path, "different", shown(wanted), f"{shown(found)} ({error})")
            return
        if isinstance(meant, Mapping):
            yield from self._compare_fields(place, meant, given)
        elif meant != given:
            yield Difference(place.path, "different", shown(wanted), shown(found))

    def _compare_fields(
        self, place: _Place, wanted: Mapping[str, Any], found: Any
    ) -> Iterator[Difference]:
        if not isinstance(found, Mapping | _Absent):
            yield Difference(place.path, "different", shown(wanted), shown(found))
            return
        fields: Mapping[str, Any] = {} if isinstance(found, _Absent) else found
        for name, value in wanted.items():
            yield from self.compare(place.field(name), value, fields.get(name, _ABSENT))
        if place.shape in self.meanings.whole:
            for name in fields:
                if name not in wanted:
                    yield Difference(place.path, "extra", found=shown({name: fields[name]}))

    def _compare_lists(
        self, place: _Place, wanted: Sequence[Any], found: Any
    ) -> Iterator[Difference]:
        if not isinstance(found, list | tuple | _Absent):
            yield Difference(place.path, "different", shown(wanted), shown(found))
            return
        entries: Sequence[Any] = () if isinstance(found, _Absent) else found
        keys = self.meanings.keys.get(place.shape)
        if keys is not None:
            yield from self._compare_keyed(place, wanted, entries, keys)
            return
        for value in wanted:
            if not any(self._holds(place, value, each) for each in entries):
                yield Difference(place.path, "lacking", shown(value))
        for each in entries:
            if not isinstance(each, Mapping) and not any(_equal(each, value) for value in wanted):
                yield Difference(place.path, "extra", found=shown(each))

    def _holds(self, place: _Place, wanted: Any, found: Any) -> bool:
        return not any(True for _ in self.compare(place.entry(""), wanted, found))

    def _compare_keyed(
        self, place: _Place, wanted: Sequence[Any], entries: Sequence[Any], keys: tuple[str, ...]
    ) -> Iterator[Difference]:
        found = {_key(each, keys): each for each in entries}
        for value in wanted:
            key = _key(value, keys)
            if key in found:
                yield from self.compare(place.entry(_label(key)), value, found.pop(key))
            else:
                yield Difference(place.path, "lacking", shown(value))
        if place.shape in self.meanings.whole:
            for entry in found.values():
                yield Difference(place.path, "extra", found=shown(entry))


def _key(entry: Any, keys: tuple[str, ...]) -> tuple[str, ...]:
    fields = entry if isinstance(entry, Mapping) else {}
    return tuple(json.dumps(fields.get(key), default=str) for key in keys)


def _label(key: tuple[str, ...]) -> str:
    return ", ".join(part.strip('"') for part in key if part != "null")


def _equal(one: Any, other: Any) -> bool:
    """Python takes true for 1, which YAML does not."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def shown(value: Any) -> str:
    """A value on one line: text as it is, all else as JSON; cut where it is long."""
    text = value if isinstance(value, str) and value else json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
