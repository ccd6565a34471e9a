"""What a field of a Scapy layer may be given: plain values only, checked before Scapy sees them.

Scapy takes a host name for an address and asks the resolver for it, takes a list for
several packets, and cuts numbers that are too large; none of that may happen here.

TCP's options as profiles list them: `[[MSS, 1460], [NOP, null]]`. Scapy leaves out options that it
has no name for, and writes whatever text it is given.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Literal

from plimsoll.errors import InputError
from plimsoll.text.mistakes import did_you_mean
from plimsoll.traffic.frames.addresses import MAC
from plimsoll.traffic.frames.scapy_layers import FieldValue, Scapy, scapy_module

_HEXADECIMAL = re.compile(r"0x([0-9a-f]{2})*", re.IGNORECASE)


def written_bytes(text: str) -> bytes:
    """The bytes that `text` means. Raises InputError for hexadecimal of no whole bytes."""
    if text[:2].lower() != "0x":
        return text.encode()
    if not _HEXADECIMAL.fullmatch(text):
        raise InputError(
            f"{text[:40]!r} is not whole bytes of hexadecimal",
            remedy="write two digits a byte, such as 0x00ff",
        )
    return bytes.fromhex(text[2:])


_WITHOUT_LENGTH = ("EOL", "NOP")

# A name, or a number that Scapy has no name for, and what Scapy takes for its value.
TcpOption = tuple[str | int, object]


def tcp_options(options: Sequence[object]) -> list[TcpOption]:
    """The options as Scapy takes them. Raises InputError for those that it would not send."""
    return [_option(each) for each in options]


def same_options(given: Sequence[TcpOption], read: Sequence[TcpOption]) -> bool:
    """Whether what was read back is what was given, before the list's end and padding."""
    return _before_end(given) == _before_end(read)


def _option(given: object) -> TcpOption:
    if not isinstance(given, tuple) or len(given) != 2:
        raise InputError(f"found {given!r}", remedy="write a list of [name, value]")
    name, form = _name_and_form(given[0])
    value = given[1]
    if name in _WITHOUT_LENGTH:
        if value is not None:
            raise InputError(f"{name} has no value", remedy=f"write [{name}, null]")
        return name, None
    if form is None or "s" in form or "p" in form:
        if value is None or isinstance(value, str):
            return name, written_bytes(value or "")
        raise _wrong(name, value, "text, bytes such as 0x00ff, or null")
    numbers = value if isinstance(value, tuple) else (value,)
    try:
        struct.pack(f"{form}{len(numbers)}I" if name == "SAck" else form, *numbers)
    except struct.error:
        remedy = (
            "numbers as large as the option holds, and as many: [MSS, 1460], [Timestamp, [1, 0]]"
        )
        raise _wrong(name, value, remedy) from None
    return name, numbers if len(numbers) > 1 or name == "SAck" else numbers[0]


def _name_and_form(given: object) -> tuple[str | int, str | None]:
    """The name, and the format of `struct` for its value, of an option given by either."""
    by_number, by_name = scapy_module("scapy.layers.inet").TCPOptions
    if isinstance(given, int) and 0 <= given <= 255:
        return by_number.get(given, (given, None))  # type: ignore[no-any-return]
    if given not in by_name:
        remedy = did_you_mean(str(given), by_name)
        raise InputError(f"unknown option {given!r}", remedy=remedy)
    return by_number[by_name[given]]  # type: ignore[no-any-return]


def _wrong(name: str | int, value: object, accepted: str) -> InputError:
    found = "null" if value is None else repr(value)
    return InputError(f"{name} cannot be {found}", remedy=f"give {accepted}")


def _before_end(options: Sequence[TcpOption]) -> list[tuple[str | int, object]]:
    plain: list[tuple[str | int, object]] = []
    for name, value in options:
        if name == "EOL":
            break
        plain.append((name, _plain(value)))
    return plain


def _plain(value: Scapy) -> object:
    """Scapy reads some values as packets."""
    if value is None or isinstance(value, int | tuple | bytes):
        return value
    return bytes(value)


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
