"""TCP's options as profiles list them: `[[MSS, 1460], [NOP, null]]`.

Scapy leaves out options that it has no name for, and writes whatever text it is given.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from plimsoll.errors import InputError
from plimsoll.text.mistakes import did_you_mean
from plimsoll.traffic.frames.scapy_layers import Scapy, scapy_module
from plimsoll.traffic.frames.written_bytes import written_bytes

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
