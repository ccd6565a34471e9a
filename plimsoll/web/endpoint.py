"""Where a server listens: on the loopback unless an address is given."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from plimsoll.errors import InputError

_LOOPBACK = "127.0.0.1"
_MOST = 65535


@dataclass(frozen=True, slots=True)
class ListenEndpoint:
    """An address of this machine and a TCP port."""

    address: str
    port: int


def parse_endpoint(text: str, option: str = "--metrics-port") -> ListenEndpoint:
    """A port, alone or after an address: 9464, 0.0.0.0:9464, [::1]:9464.

    Raises InputError, placed at the option.
    """
    address, _, port = text.rpartition(":")
    bare = address.removeprefix("[").removesuffix("]") if address else _LOOPBACK
    try:
        ipaddress.ip_address(bare)
        number = int(port) if port.isascii() and port.isdigit() else 0
    except ValueError:
        number = 0
    if not 0 < number <= _MOST:
        raise InputError(
            f"{text!r} is not a port",
            where=option,
            remedy="write a port from 1 to 65535, such as 9464, or with the address to listen on: "
            "0.0.0.0:9464",
        )
    return ListenEndpoint(bare, number)
