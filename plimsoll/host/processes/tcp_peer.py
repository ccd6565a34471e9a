"""Whose process is at the other end of a TCP connection that does not leave this machine."""

from __future__ import annotations

import ipaddress
import os
import struct
from collections.abc import Iterator
from pathlib import Path

_TABLES = Path("/proc/self/net")
# TCP_ESTABLISHED (include/net/tcp_states.h). Of one that its process has closed the table no
# longer says whose it is: it has root's id there, and no inode.
_ESTABLISHED, _CLOSED_INODE = "01", "0"
_LOCAL, _REMOTE, _STATE, _UID, _INODE = 1, 2, 3, 7, 9
_SUDO_UID = "SUDO_UID"

# An IP address and a port.
SocketAddress = tuple[str, int]


def loopback_peer_uid(
    peer: SocketAddress, local: SocketAddress, tables: Path = _TABLES
) -> int | None:
    """The user whose socket `peer` is, as it is connected to our `local`.

    None for one that is not on the loopback, is not connected any more, or cannot be found.
    """
    if not (_is_loopback(peer) and _is_loopback(local)):
        return None
    pairs = set(zip(_written(peer), _written(local), strict=True))
    for row in _rows(tables):
        if (row[_LOCAL], row[_REMOTE]) not in pairs:
            continue
        if row[_STATE] == _ESTABLISHED and row[_INODE] != _CLOSED_INODE:
            return int(row[_UID])
    return None


def starters() -> frozenset[int]:
    """The users who have started this process: its own, root, and who has called sudo for it."""
    users = {os.geteuid(), 0}
    sudo = os.environ.get(_SUDO_UID, "")
    if os.geteuid() == 0 and sudo.isascii() and sudo.isdigit():
        users.add(int(sudo))
    return frozenset(users)


def _is_loopback(address: SocketAddress) -> bool:
    try:
        return _ip(address).is_loopback
    except ValueError:
        return False


def _ip(address: SocketAddress) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Without its scope; of IPv4 as such, also within IPv6."""
    found = ipaddress.ip_address(address[0].partition("%")[0])
    return (isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped) or found


def _written(address: SocketAddress) -> tuple[str, ...]:
    """As the tables have it: words of the host's order; of IPv4 as such, and within IPv6."""
    found = _ip(address)
    packed = [found.packed]
    if isinstance(found, ipaddress.IPv4Address):
        packed.append(b"\0" * 10 + b"\xff\xff" + found.packed)
    return tuple(f"{_words(each)}:{address[1]:04X}" for each in packed)


def _words(packed: bytes) -> str:
    count = len(packed) // 4
    return "".join(f"{word:08X}" for word in struct.unpack(f"={count}I", packed))


def _rows(tables: Path) -> Iterator[list[str]]:
    for family in ("tcp", "tcp6"):
        try:
            lines = (tables / family).read_text().splitlines()[1:]
        except OSError:
            continue
        yield from (line.split() for line in lines)
