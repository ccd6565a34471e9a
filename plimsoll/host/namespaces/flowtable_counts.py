"""Which frames took a flowtable's fast path, and which the kernel's whole stack."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from plimsoll.host.namespaces.netlink import Link, RouteSocket, links
from plimsoll.host.namespaces.nft_counters import NftCounters

# The table of a lab's flowtable. Behind the flowtable, on the ingress hook of each of its
# interfaces, it has a counter of the interface's name: of what the flowtable did not take.
TABLE = "plimsoll"
# IFLA_STATS64, whose first field is rx_packets.
_STATS = 23
_RX_PACKETS = struct.Struct("=Q")


@dataclass(frozen=True, slots=True)
class PathCounts:
    """Frames that an interface received, and those of them that took the slow path."""

    received: int
    slow: int

    @property
    def fast(self) -> int:
        """Those that the flowtable took, and forwarded by itself."""
        return self.received - self.slow


class FlowtableCounts:
    """Two sockets of the calling thread's namespace. Raises OSError."""

    def __init__(self) -> None:
        self._route = RouteSocket()
        self._counters = NftCounters()

    def read(self) -> dict[str, PathCounts]:
        """By interface; none where there is no such table. Raises OSError.

        What is received between its two readings counts as slow alone: while frames come, `fast`
        may be short by some.
        """
        received = dict(map(_received, links(self._route)))
        slow = self._counters.packets(TABLE)
        return {name: PathCounts(received[name], slow[name]) for name in slow if name in received}

    def close(self) -> None:
        """Close both; safe to repeat."""
        self._route.close()
        self._counters.close()


def _received(link: Link) -> tuple[str, int]:
    (packets,) = _RX_PACKETS.unpack_from(link.attributes[_STATS])
    return link.name.decode(errors="replace"), packets
