"""A profile's `packet`: a list of Scapy's layers, read from plain YAML."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from plimsoll.errors import InputError
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.addresses import Endpoint
from plimsoll.traffic.frames.packet import build_layer
from plimsoll.traffic.frames.scapy_layers import FieldValue, Layer, Stack, transport_index

_MAX_LAYERS = 32
_FORM = "write a layer's name, or {IP: {dst: 198.19.0.1}}"
_PLAIN = "write text, a whole number or a list of them"


def parse_packet(given: object) -> Stack:
    """The layers that a list names, each of them checked by Scapy; raises a mistake."""
    if isinstance(given, tuple) and all(isinstance(each, Layer) for each in given):
        return given
    if not isinstance(given, list) or not 1 <= len(given) <= _MAX_LAYERS:
        raise mistake(f"a packet is a list of 1 to {_MAX_LAYERS} layers", _FORM)
    stack = tuple(_layer(each, index) for index, each in enumerate(given))
    if stack[0].name != "Ether":
        raise mistake(f"the first layer is {stack[0].name}", "begin with Ether", 0)
    for index, each in enumerate(stack):
        try:
            build_layer(each)
        except InputError as error:
            raise mistake(error.message, error.remedy, index) from None
    return stack


def written_packet(stack: Stack) -> list[object]:
    """What `parse_packet` reads back to these very layers."""
    return [
        {each.name: {name: _as_yaml(value) for name, value in each.fields}}
        if each.fields
        else each.name
        for each in stack
    ]


def _layer(given: object, index: int) -> Layer:
    if isinstance(given, str):
        return Layer(given)
    if not isinstance(given, dict) or len(given) != 1:
        raise mistake(f"{given!r} is not a valid layer", _FORM, index)
    ((name, fields),) = given.items()
    if not isinstance(name, str) or not isinstance(fields, dict | None):
        raise mistake(f"{given!r} is not a valid layer", _FORM, index)
    return Layer(
        name, tuple((str(k), _plain(v, index, name, k)) for k, v in (fields or {}).items())
    )


def _plain(value: object, *where: str | int) -> FieldValue:
    """A value without anything that is not plain; `where` it stands."""
    if isinstance(value, list | tuple):
        return tuple(_plain(each, *where) for each in value)
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, str | int):
        return value
    raise mistake(f"{'.'.join(map(str, where[1:]))}: found {value!r}", _PLAIN, *where)


def _as_yaml(value: object) -> object:
    return [_as_yaml(each) for each in value] if isinstance(value, tuple) else value


PacketField = Annotated[
    Stack,
    PlainValidator(parse_packet),
    PlainSerializer(written_packet),
    WithJsonSchema({"type": "array"}),
]


# Source and destination by the IP version of their addresses.
StackEnds = Mapping[int, tuple[Endpoint, Endpoint]]

_PAIRS = {
    "Ether": (("src", "dst"),),
    "IP": (("src", "dst"),),
    "IPv6": (("src", "dst"),),
    "ARP": (("hwsrc", "hwdst"), ("psrc", "pdst")),
}
_PORTS = (("sport", "dport"),)
# RFC 7348's; Scapy's default is a later extension, on the port that Linux used before.
_VXLAN_PORT = 4789
_VXLAN_FLAGS = 8


def with_addresses(stack: Stack, ends: StackEnds) -> Stack:
    """Addresses and ports that are not given are those of the ends.

    Scapy would look them up in the routing table, and ask the network for them. Ports are
    filled in for the innermost transport only: those of a tunnel say what it is.
    """
    transport = transport_index(stack)
    filled = []
    for index, each in enumerate(stack):
        following = stack[index + 1].name if index + 1 < len(stack) else ""
        defaults = _defaults(each.name, following, ends)
        if index == transport:
            source, destination = ends[4]
            defaults = {"sport": source.port, "dport": destination.port}
        missing = {name: value for name, value in defaults.items() if each.get(name) is None}
        filled.append(each.replaced(missing))
    return tuple(filled)


def reversed_stack(stack: Stack) -> Stack:
    """The way back: sources and destinations that are given change places, layer by layer.

    A group's address stays the destination. Ports change places in the innermost
    transport only.
    """
    transport = transport_index(stack)
    return tuple(
        _swapped(each, _PORTS if index == transport else _PAIRS.get(each.name, ()))
        for index, each in enumerate(stack)
    )


def _defaults(name: str, following: str, ends: StackEnds) -> Mapping[str, FieldValue]:
    source, destination = ends[6 if name == "IPv6" else 4]
    if name == "Ether":
        return {"src": source.mac, "dst": destination.mac}
    if name in ("IP", "IPv6"):
        return {"src": str(source.ip), "dst": str(destination.ip)}
    if name == "ARP":
        hardware = {"hwsrc": source.mac, "hwdst": destination.mac}
        return {**hardware, "psrc": str(source.ip), "pdst": str(destination.ip)}
    if name == "VXLAN":
        return {"flags": _VXLAN_FLAGS}
    return {"dport": _VXLAN_PORT} if (name, following) == ("UDP", "VXLAN") else {}


def _swapped(each: Layer, pairs: tuple[tuple[str, str], ...]) -> Layer:
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
