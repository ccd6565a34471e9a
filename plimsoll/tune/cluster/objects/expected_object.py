"""What the rendered intent asks of one object, without what only rendering brings.

What of an expected object another one does not have: a structural comparison of a part. Only
fields that are expected count. How two values are compared depends on what they mean: "0,1" and
"0-1" are one list of CPUs, and a text may itself be JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from plimsoll.tune.cluster.kinds import Kind
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import KubeObject, full_name, name_of, namespace_of
from plimsoll.tune.render.files.rendered_file import Manifest, with_extra

_LONGEST_VALUE = 100
_ANY = "*"
_WILDCARD = "*"


@dataclass(frozen=True, slots=True)
class Difference:
    """At `path`: no value, or another; or a list that lacks the expected or has more.

    `beyond` is whether all that is expected is there, and more than that.
    """

    path: str
    kind: Literal["missing", "different", "lacking", "extra"]
    expected: str = ""
    found: str = ""
    beyond: bool = False

    def __str__(self) -> str:
        words = {
            "missing": f"is not set, and should be {self.expected}",
            "different": f"is {self.found}, not {self.expected}",
            "lacking": f"lacks {self.expected}",
            "extra": f"has {self.found}, which is not in the intent",
        }
        return f"{self.path} {words[self.kind]}"


@dataclass(frozen=True, slots=True)
class Meanings:
    """What the fields of a kind mean, by dotted path; `*` is any entry of a list, or any field.

    `reads` turns a value into what it means; where that has fields, they are compared one by
    one. It raises ValueError for a value without meaning. `defaults` are what a field that is
    not set means. `keys` are the fields that tell the entries of a list apart. `whole` are
    mappings, and lists of them, in which what is not expected counts too, as in a selector.
    Lists of plain values are compared as sets, where it always counts.

    `rising` are a field's values from the one that gives least, `wildcards` lists in which "*"
    stands for any value, and `withheld` lists of what is not given: there fewer give more.
    """

    reads: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    rising: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    wildcards: frozenset[str] = frozenset()
    withheld: frozenset[str] = frozenset()


PLAIN = Meanings()


def differences(expected: Any, found: Any, meanings: Meanings = PLAIN) -> tuple[Difference, ...]:
    """What `found` lacks of `expected`, in the order of the expected."""
    return tuple(_Comparison(meanings).compare(_Place(), expected, found))


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

    def compare(self, place: _Place, expected: Any, found: Any) -> Iterator[Difference]:
        if isinstance(found, _Absent) or found is None:
            found = self.meanings.defaults.get(place.shape, _ABSENT)
        reads = self.meanings.reads
        read = reads.get(place.shape) or reads.get(place.sibling)
        if read is not None:
            yield from self._compare_meanings(place, expected, found, read)
        elif isinstance(expected, Mapping):
            yield from self._compare_fields(place, expected, found)
        elif isinstance(expected, list | tuple):
            yield from self._compare_lists(place, expected, found)
        elif isinstance(found, _Absent):
            if expected is not None:
                yield Difference(place.path, "missing", shown(expected))
        elif not _equal(expected, found):
            more = _gives_more(self.meanings.rising.get(place.shape, ()), expected, found)
            yield Difference(place.path, "different", shown(expected), shown(found), more)

    def _compare_meanings(
        self, place: _Place, expected: Any, found: Any, read: Callable[[Any], Any]
    ) -> Iterator[Difference]:
        if isinstance(found, _Absent):
            yield Difference(place.path, "missing", shown(expected))
            return
        try:
            meaning = read(expected)
        except ValueError:
            # An intent's extra fields may hold anything: then alike is what is written alike.
            if not _equal(expected, found):
                yield Difference(place.path, "different", shown(expected), shown(found))
            return
        try:
            given = read(found)
        except ValueError as error:
            yield Difference(place.path, "different", shown(expected), f"{shown(found)} ({error})")
            return
        if isinstance(meaning, Mapping):
            yield from self._compare_fields(place, meaning, given)
        elif meaning != given:
            yield Difference(place.path, "different", shown(expected), shown(found))

    def _compare_fields(
        self, place: _Place, expected: Mapping[str, Any], found: Any
    ) -> Iterator[Difference]:
        if not isinstance(found, Mapping | _Absent):
            yield Difference(place.path, "different", shown(expected), shown(found))
            return
        fields: Mapping[str, Any] = {} if isinstance(found, _Absent) else found
        for name, value in expected.items():
            yield from self.compare(place.field(name), value, fields.get(name, _ABSENT))
        if place.shape in self.meanings.whole:
            for name in fields:
                if name not in expected:
                    yield _extra(place, {name: fields[name]})

    def _compare_lists(
        self, place: _Place, expected: Sequence[Any], found: Any
    ) -> Iterator[Difference]:
        if not isinstance(found, list | tuple | _Absent):
            yield Difference(place.path, "different", shown(expected), shown(found))
            return
        entries: Sequence[Any] = () if isinstance(found, _Absent) else found
        keys = self.meanings.keys.get(place.shape)
        if keys is not None:
            yield from self._compare_keyed(place, expected, entries, keys)
            return
        yield from self._compare_unkeyed(place, expected, entries)

    def _compare_unkeyed(
        self, place: _Place, expected: Sequence[Any], entries: Sequence[Any]
    ) -> Iterator[Difference]:
        any_value = place.shape in self.meanings.wildcards and _WILDCARD in entries
        withheld = place.shape in self.meanings.withheld
        taken = set()
        for value in expected:
            held = self._held(place, value, entries)
            if held is not None:
                taken.add(held[0])
                yield from held[1]
            elif not any_value:
                yield Difference(place.path, "lacking", shown(value), beyond=withheld)
        for index, each in enumerate(entries):
            counts = not isinstance(each, Mapping) or place.shape in self.meanings.whole
            if counts and index not in taken and not any(_equal(each, one) for one in expected):
                yield _extra(place, each, beyond=not withheld)

    def _held(
        self, place: _Place, expected: Any, entries: Sequence[Any]
    ) -> tuple[int, list[Difference]] | None:
        """The entry that has all that is expected, and what little more than that it has."""
        found = (
            (index, list(self.compare(place.entry(str(index)), expected, each)))
            for index, each in enumerate(entries)
        )
        holding = [each for each in found if all(one.beyond for one in each[1])]
        return min(holding, key=lambda each: len(each[1]), default=None)

    def _compare_keyed(
        self, place: _Place, expected: Sequence[Any], entries: Sequence[Any], keys: tuple[str, ...]
    ) -> Iterator[Difference]:
        found = {_key(each, keys): each for each in entries}
        for value in expected:
            key = _key(value, keys)
            if key in found:
                yield from self.compare(place.entry(_label(key)), value, found.pop(key))
            else:
                yield Difference(place.path, "lacking", shown(value))
        if place.shape in self.meanings.whole:
            for entry in found.values():
                yield _extra(place, entry)


def _extra(place: _Place, found: Any, beyond: bool = True) -> Difference:
    return Difference(place.path, "extra", found=shown(found), beyond=beyond)


def _gives_more(rising: Sequence[Any], expected: Any, found: Any) -> bool:
    """Whether `found` stands after `expected` in the list; not where one is not in it."""
    places = [[_equal(each, one) for one in rising] for each in (expected, found)]
    return all(map(any, places)) and places[0].index(True) < places[1].index(True)


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


@dataclass(frozen=True, slots=True)
class ExpectedObject:
    """The object as `manifest` has it, and what its fields mean.

    Everything in `manifest` counts: what the intent leaves open has been taken out.
    `required` is whether the cluster is to have it at all times; pods come and go.
    """

    kind: Kind
    manifest: Manifest
    meanings: Meanings = PLAIN
    required: bool = True

    @property
    def name(self) -> str:
        """The object's name."""
        return name_of(self.manifest)

    @property
    def namespace(self) -> str | None:
        """The object's namespace, None for one of the whole cluster."""
        return namespace_of(self.manifest) or None

    @property
    def title(self) -> str:
        """As people name it: PerformanceProfile reghwol."""
        return f"{self.kind.name} {full_name(self.manifest)}"

    def differences(self, found: KubeObject) -> tuple[Difference, ...]:
        """What `found` lacks of it."""
        return differences(self.manifest, found, self.meanings)


def with_intents_extra(intent: Intent, expected: ExpectedObject) -> ExpectedObject:
    """With the intent's annotations and extra fields, which count as given."""
    return replace(expected, manifest=with_extra(intent, expected.manifest))


def reduced(manifest: Manifest, **parts: object) -> Manifest:
    """The object's identity, with `parts` for all else, empty ones left out."""
    metadata = {
        field: value
        for field, value in manifest["metadata"].items()
        if field in ("name", "namespace")
    }
    given = {name: value for name, value in parts.items() if value}
    return {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": metadata | _metadata(given),
        **given,
    }


def _metadata(parts: dict[str, object]) -> dict[str, object]:
    return {name: parts.pop(name) for name in ("labels", "annotations") if name in parts}
