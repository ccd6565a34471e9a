"""A packet as written down: layers by Scapy's names with the fields that were given.

Nothing here needs Scapy; packet.py builds what is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

# Text, numbers, lists of them (as tuples), and null for "as Scapy has it".
FieldValue = int | str | None | tuple["FieldValue", ...]


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


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One end of a stream; `port` means nothing to protocols without ports."""

    mac: str
    ip: IPv4Address | IPv6Address
    port: int


def last_index(stack: Stack, *names: str) -> int | None:
    """Where the innermost layer of one of these names is."""
    found = [index for index, each in enumerate(stack) if each.name in names]
    return found[-1] if found else None


def transport_index(stack: Stack) -> int | None:
    """Where the innermost IP packet's TCP or UDP is, if that is what it carries."""
    transport = last_index(stack, "TCP", "UDP")
    network = last_index(stack, "IP", "IPv6")
    return transport if transport is not None and transport > (network or 0) else None


def with_addresses(stack: Stack, source: Endpoint, destination: Endpoint) -> Stack:
    """Addresses and ports that are not given are those of the ends.

    Scapy would look them up in the routing table, and ask the network for them.
    Ports are filled in for the innermost transport only: those of a tunnel say what it is.
    """
    transport = transport_index(stack)
    return tuple(
        _with_defaults(each, source, destination, ports=index == transport)
        for index, each in enumerate(stack)
    )


def reversed_stack(stack: Stack) -> Stack:
    """The way back: sources and destinations that are given change places, layer by layer.

    A group's address stays the destination. Ports change places in the innermost
    transport only.
    """
    transport = transport_index(stack)
    return tuple(_swapped(each, ports=index == transport) for index, each in enumerate(stack))


_PAIRS = {
    "Ether": (("src", "dst"),),
    "IP": (("src", "dst"),),
    "IPv6": (("src", "dst"),),
    "ARP": (("hwsrc", "hwdst"), ("psrc", "pdst")),
}
_PORTS = (("sport", "dport"),)


def _with_defaults(each: Layer, source: Endpoint, destination: Endpoint, *, ports: bool) -> Layer:
    defaults: dict[str, FieldValue] = {}
    if each.name == "Ether":
        defaults = {"src": source.mac, "dst": destination.mac}
    elif each.name in ("IP", "IPv6") and source.ip.version == (6 if each.name == "IPv6" else 4):
        defaults = {"src": str(source.ip), "dst": str(destination.ip)}
    elif each.name == "ARP" and source.ip.version == 4:
        defaults = {"hwsrc": source.mac, "psrc": str(source.ip), "pdst": str(destination.ip)}
    elif ports:
        defaults = {"sport": source.port, "dport": destination.port}
    return each.replaced(
        {name: value for name, value in defaults.items() if each.get(name) is None}
    )


def _swapped(each: Layer, *, ports: bool) -> Layer:
    pairs = _PORTS if ports else _PAIRS.get(each.name, ())
    fields = dict(each.fields)
    for source, destination in pairs:
        if _is_group(fields.get(destination)):
            continue
        swapped = {source: fields.pop(destination, None), destination: fields.pop(source, None)}
        fields |= {name: value for name, value in swapped.items() if value is not None}
    return Layer(each.name, tuple(fields.items()))


def _is_group(address: FieldValue) -> bool:
    """Whether it is a multicast or broadcast address, of Ethernet or IP."""
    if not isinstance(address, str):
        return False
    try:
        ip = ip_address(address)
    except ValueError:
        return int(address[:2], 16) % 2 == 1
    return ip.is_multicast or address == "255.255.255.255"
