"""What the kernel says by netlink(7): of interfaces, queueing disciplines and bridges by rtnetlink.

A socket belongs to the network namespace in which it was opened, no matter who uses it later.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

# Requests of linux/rtnetlink.h; all three list everything.
LINKS, NEIGHBOURS, QDISCS = 18, 30, 38
_REQUEST, _DUMP = 0x001, 0x300
_ERROR, _DONE = 2, 3
_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
# struct ifinfomsg: family, padding, type, index, flags, change. IFLA_IFNAME.
_LINK = struct.Struct("=BBHiII")
_LINK_NAME = 3
# The two upper bits say how an attribute is written, not which it is.
_ATTRIBUTE_NUMBER = 0x3FFF
_BLOCK_BYTES = 1 << 17
# The kernel answers at once, or the socket is broken.
_PATIENCE_S = 5.0


class NetlinkSocket:
    """A netlink socket of the calling thread's namespace. Raises OSError."""

    def __init__(self, protocol: int) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self._socket.settimeout(_PATIENCE_S)
        self._number = 0

    def ask(self, request: int, head: bytes) -> Iterator[bytes]:
        """The bodies of all messages that a dump gives; `head` is the request's own struct.

        Raises OSError where the kernel refuses.
        """
        self._number += 1
        header = _HEADER.pack(_HEADER.size + len(head), request, _REQUEST | _DUMP, self._number, 0)
        self._socket.send(header + head)
        while True:
            for kind, body in messages(self._socket.recv(_BLOCK_BYTES), self._number):
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    refused = -struct.unpack_from("=i", body)[0]
                    raise OSError(refused, os.strerror(refused))
                yield body

    def close(self) -> None:
        """Close it; safe to repeat."""
        self._socket.close()


class RouteSocket(NetlinkSocket):
    """An rtnetlink socket of the calling thread's namespace. Raises OSError."""

    def __init__(self) -> None:
        super().__init__(socket.NETLINK_ROUTE)


class Link(NamedTuple):
    """An interface by its number; `attributes` are those of linux/if_link.h."""

    number: int
    name: bytes
    attributes: dict[int, bytes]


def links(route: RouteSocket) -> Iterator[Link]:
    """The interfaces of a socket's namespace. Raises OSError."""
    for body in route.ask(LINKS, _LINK.pack(0, 0, 0, 0, 0, 0)):
        known = attributes(body, _LINK.size)
        yield Link(_LINK.unpack_from(body)[3], known[_LINK_NAME].rstrip(b"\0"), known)


def messages(block: bytes, number: int) -> Iterator[tuple[int, bytes]]:
    """The messages of a block that answer request `number`: kind and body of each."""
    offset = 0
    while offset + _HEADER.size <= len(block):
        length, kind, _, answered, _ = _HEADER.unpack_from(block, offset)
        if length < _HEADER.size:
            raise ValueError(f"a netlink message of {length} bytes")
        if answered == number:
            yield kind, block[offset + _HEADER.size : offset + length]
        offset += _aligned(length)


def attributes(body: bytes, offset: int) -> dict[int, bytes]:
    """The attributes behind the first `offset` bytes, by number; the last of equal ones."""
    found: dict[int, bytes] = {}
    while offset + _ATTRIBUTE.size <= len(body):
        length, number = _ATTRIBUTE.unpack_from(body, offset)
        if length < _ATTRIBUTE.size:
            raise ValueError(f"a netlink attribute of {length} bytes")
        found[number & _ATTRIBUTE_NUMBER] = body[offset + _ATTRIBUTE.size : offset + length]
        offset += _aligned(length)
    return found


def _aligned(length: int) -> int:
    return (length + 3) & ~3
