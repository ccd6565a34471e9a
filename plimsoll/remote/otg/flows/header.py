"""What an OTG header becomes: one of Scapy's layers, and the fields that change in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from plimsoll.remote.otg.flows.pattern import Pattern, read_pattern
from plimsoll.remote.otg.model.given import Given
from plimsoll.remote.otg.model.refusal import placed_at
from plimsoll.traffic.frames.field_values import ValueKind, from_number
from plimsoll.traffic.frames.layers import FieldValue, Layer


@dataclass
class Header:
    """One header as it is read: fields of the layer, and those of them that vary, with paths."""

    layer: str
    given: Given
    # The OTG name of the header that follows; empty for none.
    following: str
    fields: dict[str, FieldValue] = field(default_factory=dict)
    varied: dict[str, tuple[Pattern, str]] = field(default_factory=dict)

    def put(self, name: str, pattern: Pattern, path: str, kind: ValueKind = "number") -> None:
        """Give a field of the layer the pattern that stands at a path of the request."""
        self.fields[name] = from_number(kind, pattern.first)
        if pattern.varies:
            self.varied[name] = (pattern, path)

    def take(self, otg: str, name: str, kind: ValueKind = "number") -> None:
        """The same for an OTG field that says it, or has a default. With `auto` Scapy's holds."""
        pattern = read_pattern(self.given.part(otg))
        if pattern is not None:
            self.put(name, pattern, self.given.place(otg), kind)

    def take_given(self, otg: str, name: str, kind: ValueKind = "number") -> None:
        """The same only where it is given: a default that no frame can have means `auto`."""
        if self.given.has(otg):
            self.take(otg, name, kind)

    def single(self, otg: str) -> int:
        """The only value of a field that cannot vary."""
        part = self.given.part(otg)
        pattern = read_pattern(part)
        if pattern is None or pattern.varies:
            raise part.refused("", "cannot vary", "give one value")
        return pattern.first

    def take_checksum(self, name: str, otg: str = "checksum") -> None:
        """Right as long as nothing else is said; a wrong one as given, in every frame alike."""
        part = self.given.part(otg)
        if part.choice == "custom":
            self.fields[name] = part.whole("custom")
        elif part.text("generated") == "bad":
            raise part.refused("generated", "bad checksums are not made", "give a custom one")

    def built(self) -> Layer:
        """The layer."""
        return Layer(self.layer, tuple(self.fields.items()))


Reader = Callable[[Header], None]


@dataclass(frozen=True, slots=True)
class PlainFields:
    """A reader of fields that have the same meaning on both sides: Scapy's name and its kind."""

    numbers: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, tuple[str, ValueKind]] = field(default_factory=dict)
    checksum: str = ""

    def __call__(self, header: Header) -> None:
        """Read them."""
        for otg, name in self.numbers.items():
            header.take(otg, name)
        for otg, (name, kind) in self.addresses.items():
            header.take(otg, name, kind)
        if self.checksum:
            header.take_checksum(self.checksum)


def read_header(layer: str, read: Reader, given: Given, following: str) -> Header:
    """The header that stands at a place of the request. Raises Refusal."""
    header = Header(layer, given, following)
    with placed_at(given.path):
        read(header)
    return header
