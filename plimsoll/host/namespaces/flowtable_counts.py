"""Which frames took a flowtable's fast path, and which the kernel's whole stack."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.namespaces.netlink import Link, NetlinkSocket, RouteSocket, attributes, links

# The table of a lab's flowtable. Behind the flowtable, on the ingress hook of each of its
# interfaces, it has a counter of the interface's name: of what the flowtable did not take.
TABLE = "plimsoll"
# IFLA_STATS64, whose first field is rx_packets.
_STATS = 23
_RX_PACKETS = struct.Struct("=Q")
# NETLINK_NETFILTER of linux/netlink.h, which Python's socket module does not name.
_NETLINK_NETFILTER = 12
# NFNL_SUBSYS_NFTABLES of linux/netfilter/nfnetlink.h, and NFT_MSG_GETOBJ of nf_tables.h.
_GET_OBJECTS = 10 << 8 | 19
# struct nfgenmsg: family (NFPROTO_INET), version, resource.
_HEAD = struct.pack("=BBH", 1, 0, 0)
# NFTA_OBJ_TABLE, _NAME, _TYPE and _DATA; NFT_OBJECT_COUNTER; NFTA_COUNTER_PACKETS.
_TABLE, _NAME, _TYPE, _DATA = 1, 2, 3, 4
_COUNTER = 1
_PACKETS = 2
# The file is the machine's: a namespace's own can be lower since Linux 6.14, and is not by itself.
CONNTRACK_MAX = Path("/proc/sys/net/netfilter/nf_conntrack_max")
# What the calling thread's namespace counts, for each CPU a line of hexadecimal numbers.
_COUNTS = Path("/proc/thread-self/net/stat/nf_conntrack")
# Packets that were dropped because there was no room for an entry of theirs.
_DROPPED = "drop"


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


# The named counters of nftables, by netlink.
class NftCounters:
    """A socket of the calling thread's namespace. Raises OSError."""

    def __init__(self) -> None:
        self._socket = NetlinkSocket(_NETLINK_NETFILTER)

    def packets(self, table: str) -> dict[str, int]:
        """What each counter of an inet table has counted, by its name; none without the table.

        Raises OSError where the kernel refuses, as one without nftables does.
        """
        found = map(read_counter, self._socket.ask(_GET_OBJECTS, _HEAD))
        return {name: packets for each, name, packets in filter(None, found) if each == table}

    def close(self) -> None:
        """Close it; safe to repeat."""
        self._socket.close()


def read_counter(body: bytes) -> tuple[str, str, int] | None:
    """Table, name and packets of a counter; None for an object of another kind."""
    known = attributes(body, len(_HEAD))
    if int.from_bytes(known.get(_TYPE, b"")) != _COUNTER:
        return None
    packets = attributes(known[_DATA], 0)[_PACKETS]
    return _text(known[_TABLE]), _text(known[_NAME]), int.from_bytes(packets)


def _text(value: bytes) -> str:
    return value.rstrip(b"\0").decode()


# The connection tracking of a network namespace: how many flows it takes, and what it refused.
def conntrack_max(path: Path = CONNTRACK_MAX) -> int | None:
    """The most entries that any namespace may have; None where conntrack is not loaded."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def dropped_for_room(path: Path = _COUNTS) -> int | None:
    """Packets that found no room in the table, of the calling thread's namespace, on all CPUs.

    None where the kernel does not say (CONFIG_NF_CONNTRACK_PROCFS).
    """
    try:
        names, *rows = (line.split() for line in path.read_text().splitlines())
    except (OSError, ValueError):
        return None
    if _DROPPED not in names:
        return None
    column = names.index(_DROPPED)
    return sum(int(row[column], 16) for row in rows)
