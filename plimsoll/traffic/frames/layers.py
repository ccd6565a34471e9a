"""A packet as written down: layers by Scapy's names with the fields that were given.

Nothing here needs Scapy; packet.py builds what is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Text, numbers, lists of them (as tuples), and null for "as Scapy has it".
FieldValue = int | str | None | tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer; fields that are not given are Scapy's defaults."""

    name: str
    fields: tuple[tuple[str, FieldValue], ...] = ()

    def get(self, field: str) -> FieldValue:
        """A field's value, or None where none is given."""
        return dict(self.fields).get(field)

    def replaced(self, changes: Mapping[str, FieldValue]) -> Layer:
        """The same with other fields."""
        return Layer(self.name, tuple((dict(self.fields) | dict(changes)).items()))


# From the outermost layer inwards.
Stack = tuple[Layer, ...]


def layer(name: str, **fields: FieldValue) -> Layer:
    """A layer, as Scapy's own notation has it."""
    return Layer(name, tuple(fields.items()))


def last_index(stack: Stack, *names: str) -> int | None:
    """Where the innermost layer of one of these names is."""
    found = [index for index, each in enumerate(stack) if each.name in names]
    return found[-1] if found else None


def transport_index(stack: Stack) -> int | None:
    """Where the TCP or UDP is that carries the payload itself, and not another packet."""
    carriers = [index for index, each in enumerate(stack) if each.name != "Raw"]
    innermost = carriers[-1] if carriers else None
    return innermost if innermost is not None and stack[innermost].name in ("TCP", "UDP") else None
