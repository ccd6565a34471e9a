"""What a field of a Scapy layer may be given: plain values only, checked before Scapy sees them.

Scapy takes a host name for an address and asks the resolver for it, takes a list for
several packets, and cuts numbers that are too large; none of that may happen here.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Literal

from plimsoll.errors import InputError
from plimsoll.text.mistakes import did_you_mean
from plimsoll.traffic.frames.addresses import MAC
from plimsoll.traffic.frames.layers import FieldValue
from plimsoll.traffic.frames.scapy_layers import Scapy, scapy_module
from plimsoll.traffic.frames.tcp_options import tcp_options
from plimsoll.traffic.frames.written_bytes import written_bytes

ValueKind = Literal["mac", "ipv4", "ipv6", "text", "options", "number"]

_INTEGER_FORMATS = frozenset("BHIQbhiq")


def field_kind(packet: Scapy, name: str) -> ValueKind:
    """What sort of value a field of a layer takes. Raises InputError for one that is not plain."""
    field = _field(packet, name)
    fields, inet = scapy_module("scapy.fields"), scapy_module("scapy.layers.inet")
    kinds: list[tuple[Scapy, ValueKind]] = [
        (fields.MACField, "mac"),
        (fields.IPField, "ipv4"),
        (fields.IP6Field, "ipv6"),
        (inet.TCPOptionsField, "options"),
        (fields.StrField, "text"),
    ]
    for scapys_class, kind in kinds:
        if isinstance(field, scapys_class):
            return kind
    if field.islist or field.holds_packets or field.fmt[-1] not in _INTEGER_FORMATS:
        raise InputError(
            "holds what cannot be written as a plain value", remedy="leave it to Scapy's default"
        )
    return "number"


def bits_of(packet: Scapy, name: str) -> int:
    """How wide a field is."""
    field, kind = _field(packet, name), field_kind(packet, name)
    addresses = {"mac": 48, "ipv4": 32, "ipv6": 128}
    if isinstance(field, scapy_module("scapy.fields").ThreeBytesField):
        # Before Scapy 2.7 its `sz` is that of the number it is cut from.
        return 24
    return addresses.get(kind) or int(getattr(field, "size", 0)) or int(field.sz) * 8


def as_number(kind: ValueKind, value: FieldValue) -> int:
    """An address or number as the bits that stand in the frame. Raises InputError."""
    checked = _checked(kind, value)
    if kind == "mac":
        return int(str(checked).replace(":", ""), 16)
    if kind == "ipv4":
        return int(IPv4Address(checked))
    if kind == "ipv6":
        return int(IPv6Address(checked))
    if not isinstance(checked, int):
        raise InputError(f"{value!r} is not a number", remedy="write a whole number")
    return checked


def from_number(kind: ValueKind, number: int) -> FieldValue:
    """The value that stands in the frame as these bits."""
    if kind == "mac":
        return number.to_bytes(6).hex(":")
    if kind == "ipv4":
        return str(IPv4Address(number))
    return str(IPv6Address(number)) if kind == "ipv6" else number


def for_scapy(packet: Scapy, name: str, value: FieldValue) -> object:
    """A value as Scapy takes it. Raises InputError that says what the field takes."""
    kind = field_kind(packet, name)
    checked = _checked(kind, value)
    if kind == "text" and isinstance(checked, str):
        return written_bytes(checked)
    if kind == "options" and isinstance(checked, tuple):
        return tcp_options(checked)
    if kind == "number":
        _check_number(packet, name, checked)
    return checked


def _check_number(packet: Scapy, name: str, value: FieldValue) -> None:
    field, bits = _field(packet, name), bits_of(packet, name)
    if isinstance(value, int):
        if value >= 1 << bits:
            raise InputError(f"{value} does not fit into {bits} bits", remedy="give a smaller one")
        return
    if isinstance(field, scapy_module("scapy.fields").FlagsField):
        _check_flags(str(value), field.names)
        return
    names = getattr(field, "s2i", None) or {}
    if value not in names:
        raise InputError(
            f"{value!r} is not a name that Scapy has for it",
            remedy=did_you_mean(str(value), map(str, names), "give a number"),
        )


def _check_flags(value: str, names: Sequence[str]) -> None:
    """Flags are letters in a row, or words with + between them where Scapy lists words."""
    for flag in value if isinstance(names, str) else value.split("+"):
        if flag not in names:
            between = "" if isinstance(names, str) else ", with + between them"
            raise InputError(
                f"{value!r} has the unknown flag {flag!r}",
                remedy=f"use those of {', '.join(names)}{between}",
            )


def _field(packet: Scapy, name: str) -> Scapy:
    """The field itself, out of what Scapy wraps it in."""
    known = [field.name for field in packet.fields_desc]
    if name not in known:
        raise InputError(f"unknown field {name!r}", remedy=did_you_mean(name, known))
    field = packet.get_field(name)
    while True:
        if hasattr(field, "_find_fld_pkt"):
            field = field._find_fld_pkt(packet)
        elif hasattr(field, "fld"):
            field = field.fld
        else:
            return field


def _checked(kind: ValueKind, value: FieldValue) -> FieldValue:
    accepted = {
        "mac": "an address such as 02:00:00:00:00:01",
        "ipv4": "an IPv4 address such as 198.18.0.1",
        "ipv6": "an IPv6 address such as 2001:2::1",
        "text": "text, or bytes such as 0x00ff",
        "options": "a list of [name, value]",
        "number": "a whole number, or Scapy's name for one",
    }
    if not _suits(kind, value):
        raise InputError(f"found {value!r}", remedy=f"write {accepted[kind]}")
    return value


def _suits(kind: ValueKind, value: FieldValue) -> bool:
    if kind == "options":
        return isinstance(value, tuple)
    if kind == "number":
        return isinstance(value, str) or (isinstance(value, int) and value >= 0)
    if not isinstance(value, str):
        return False
    if kind == "mac":
        return MAC.fullmatch(value) is not None
    return kind == "text" or _is_address(kind, value)


def _is_address(kind: ValueKind, value: str) -> bool:
    try:
        IPv4Address(value) if kind == "ipv4" else IPv6Address(value)
    except AddressValueError:
        return False
    return "%" not in value
