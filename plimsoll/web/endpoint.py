"""Where a server listens: on the loopback unless an address is given, or on a Unix socket."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import InputError

_LOOPBACK = "127.0.0.1"
_MOST = 65535
_UNIX = "unix:"
# sun_path of sockaddr_un, its closing zero included.
_LONGEST_PATH_BYTES = 107


class ServedEndpoint:
    """A TCP port at an address, or a Unix socket."""


@dataclass(frozen=True, slots=True)
class ListenEndpoint(ServedEndpoint):
    """An address of this machine and a TCP port."""

    address: str
    port: int


@dataclass(frozen=True, slots=True)
class UnixEndpoint(ServedEndpoint):
    """The absolute path of a socket's file."""

    path: Path


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


def parse_any_endpoint(text: str, option: str) -> ServedEndpoint:
    """The same, or a Unix socket: unix:/run/lab.sock, unix:lab.sock.

    Raises InputError, placed at the option.
    """
    if not text.startswith(_UNIX):
        return parse_endpoint(text, option)
    path = Path(text.removeprefix(_UNIX)).absolute()
    if text == _UNIX or not path.name or "\0" in text or len(bytes(path)) > _LONGEST_PATH_BYTES:
        raise InputError(
            f"{text[:200]!r} names no socket",
            where=option,
            remedy=f"write unix: and a path of up to {_LONGEST_PATH_BYTES} bytes",
        )
    return UnixEndpoint(path)
