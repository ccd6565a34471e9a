"""The named counters of nftables, by netlink."""

from __future__ import annotations

import struct

from plimsoll.host.namespaces.netlink import NetlinkSocket, attributes

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
