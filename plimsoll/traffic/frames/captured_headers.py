"""Where a captured frame's packet ends, and which transports its payload lies in.

Only what decides where the signature may stand is read: Ethernet, VLAN tags, MPLS
labels, IPv4, IPv6 with its extension headers, UDP, TCP and ICMP, and these again inside
VXLAN, GTP-U, GRE and IP. Whatever is malformed, fragmented or unknown is taken as opaque.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

_VLAN_TYPES = (0x8100, 0x88A8, 0x9100)
_MPLS_TYPES = (0x8847, 0x8848)
_IPV4, _IPV6, _ARP = 0x0800, 0x86DD, 0x0806
# Below, an Ethernet header's last field is a length (IEEE 802.3).
_MIN_TYPE = 0x0600
_ARP_BYTES = 28
_ICMP, _TCP, _UDP, _ICMPV6 = 1, 6, 17, 58
# Hop-by-hop, routing and destination options (RFC 8200, section 4).
_EXTENSIONS = (0, 43, 60)
_ROUTING = 43
_VXLAN_PORT, _GTPU_PORT = 4789, 2152
# Where UDP over IPv6 may go without a checksum (RFC 6935): these, VXLAN-GPE, Geneve (RFC 8926),
# LISP (RFC 9300), GRE and MPLS in UDP (RFC 8086, RFC 7510), AMT (RFC 7450).
_TUNNEL_PORTS = frozenset({_VXLAN_PORT, _GTPU_PORT, 4790, 6081, 4341, 4754, 6635, 2268})
# IPv4 in IP (RFC 2003), IPv6 in IP (RFC 4213, RFC 2473) and GRE in IP (RFC 2784).
_IPV4_IN_IP, _IPV6_IN_IP, _GRE_IN_IP = 4, 41, 47
_IN_IP = (_IPV4_IN_IP, _IPV6_IN_IP, _GRE_IN_IP)
# GRE's flags: a checksum, RFC 1701's routing, a key, a sequence number, and the version's bits.
_GRE_CHECKSUM, _GRE_ROUTING, _GRE_KEY, _GRE_SEQUENCE, _GRE_VERSION = (
    0x8000,
    0x4000,
    0x2000,
    0x1000,
    0x0007,
)
_GRE_ETHERNET = 0x6558
# Tunnels in one another that are walked; more than any network has.
_DEEPEST = 16
_CHECKSUM_AT = {_ICMP: 2, _TCP: 16, _UDP: 6, _ICMPV6: 2}


@dataclass(frozen=True, slots=True)
class Transport:
    """A UDP, TCP or ICMP segment, or GRE with a checksum: its start, payload, end and checksum.

    `pseudo_header` is what the checksum covers along with the segment, of which `addresses` lie
    from and to these offsets of the frame; both the same where it covers none. A checksum that
    is `optional` is not there where it is zero; one that `is_udp` is never written as zero.
    """

    start: int
    payload: int
    end: int
    checksum: int
    pseudo_header: bytes
    addresses: tuple[int, int]
    optional: bool
    is_udp: bool


@dataclass(frozen=True, slots=True)
class CapturedHeaders:
    """The outermost packet's end, and transports from the outermost inwards.

    The innermost transport's payload ends where the packet does. Where the payload is of
    no transport that is known, there are none; `segments` are all that were read, also of a
    packet whose payload is not known. `ipv4_headers` are (start, end) of each IPv4 header,
    whatever it carries.
    """

    packet_end: int
    transports: tuple[Transport, ...]
    segments: tuple[Transport, ...]
    ipv4_headers: tuple[tuple[int, int], ...]


def captured_headers(frame: bytes) -> CapturedHeaders:
    """Read a frame's headers; never raises, whatever the bytes are."""
    walk = _Walk(frame)
    try:
        walk.ethernet(0)
    except (struct.error, IndexError):
        walk.opaque()
    known = walk.transports if walk.complete else []
    segments = tuple(walk.transports)
    return CapturedHeaders(walk.packet_end, tuple(known), segments, tuple(walk.ipv4_headers))


class _Walk:
    """Goes inwards layer by layer; reading past the end raises struct.error or IndexError."""

    def __init__(self, frame: bytes) -> None:
        self._frame = frame
        self.packet_end = len(frame)
        self.transports: list[Transport] = []
        self.ipv4_headers: list[tuple[int, int]] = []
        self.complete = False
        self._found_end = False
        self._depth = 0

    def opaque(self) -> None:
        """What follows is not known, so its payload must be left alone."""
        self.complete = False

    def ethernet(self, at: int) -> None:
        kind, at = self._u16(at + 12), at + 14
        while kind in _VLAN_TYPES:
            kind, at = self._u16(at + 2), at + 4
        if kind == _ARP:
            self._ends(at + _ARP_BYTES)
        elif 0 < kind < _MIN_TYPE:
            self._ends(at + kind)
        else:
            self._of_type(kind, at)

    def _of_type(self, kind: int, at: int) -> None:
        if kind in _MPLS_TYPES:
            while not self._frame[at + 2] & 1:
                at += 4
            self._network(at + 4)
        elif kind == _IPV4:
            self._ipv4(at)
        elif kind == _IPV6:
            self._ipv6(at)

    def _ipv4(self, at: int) -> None:
        header, length = (self._frame[at] & 0xF) * 4, self._u16(at + 2)
        if self._frame[at] >> 4 != 4 or header < 20 or length < header:
            return
        if not self._ends(at + length):
            return
        self.ipv4_headers.append((at, at + header))
        if self._u16(at + 6) & 0x3FFF:
            return
        protocol = self._frame[at + 9]
        if protocol in _IN_IP:
            self._in_ip(protocol, at + header, at + length)
            return
        size = length - header
        addresses = at + 12, at + 20
        pseudo_header = self._frame[slice(*addresses)] + struct.pack("!HH", protocol, size)
        self._transport(at + header, at + length, protocol, pseudo_header, addresses, version=4)

    def _ipv6(self, at: int) -> None:
        end = at + 40 + self._u16(at + 4)
        if self._frame[at] >> 4 != 6 or not self._ends(end):
            return
        addresses, following = (at + 8, at + 40), self._frame[at + 6]
        at += 40
        is_routed = False
        while following in _EXTENSIONS:
            is_routed |= following == _ROUTING and self._frame[at + 3] > 0
            following, at = self._frame[at], at + (self._frame[at + 1] + 1) * 8
        if following in _IN_IP and at <= end:
            self._in_ip(following, at, end)
            return
        if is_routed:
            # The checksum is over the last destination, which is not in the header.
            return
        written = struct.pack("!II", end - at, following)
        pseudo_header = self._frame[slice(*addresses)] + written
        self._transport(at, end, following, pseudo_header, addresses, version=6)

    def _transport(
        self,
        at: int,
        end: int,
        protocol: int,
        pseudo_header: bytes,
        addresses: tuple[int, int],
        *,
        version: int,
    ) -> None:
        payload = at + 8
        if protocol == _TCP:
            payload = at + (self._frame[at + 12] >> 4) * 4
            known = payload >= at + 20
        elif protocol == _UDP:
            known = self._u16(at + 4) == end - at
        else:
            known = protocol == (_ICMP if version == 4 else _ICMPV6)
        if not known or payload > end:
            return
        if protocol == _ICMP:
            pseudo_header, addresses = b"", (at, at)
        checksum = at + _CHECKSUM_AT[protocol]
        is_udp = protocol == _UDP
        optional = is_udp and (version == 4 or self._u16(at + 2) in _TUNNEL_PORTS)
        self.transports.append(
            Transport(at, payload, end, checksum, pseudo_header, addresses, optional, is_udp)
        )
        self.complete = True
        if is_udp:
            self._in_udp(self._u16(at + 2), payload, end)

    def _in_udp(self, port: int, at: int, end: int) -> None:
        if port == _VXLAN_PORT and self._frame[at] == 0x08:
            self._tunnel(lambda: self.ethernet(at + 8), end)
        elif port == _GTPU_PORT and self._frame[at] >> 4 == 3 and self._frame[at + 1] == 255:
            self._tunnel(lambda: self._gtpu(at), end)

    def _gtpu(self, at: int) -> None:
        """Version 1 with its extension headers (3GPP TS 29.281, section 5.2)."""
        flags = self._frame[at] & 0x7
        at += 12 if flags else 8
        following = self._frame[at - 1] if flags & 0x4 else 0
        while following:
            size = self._frame[at] * 4
            if not size:
                return
            at += size
            following = self._frame[at - 1]
        self._network(at)

    def _in_ip(self, protocol: int, at: int, end: int) -> None:
        if protocol == _GRE_IN_IP:
            self._gre(at, end)
        elif protocol == _IPV4_IN_IP:
            self._tunnel(lambda: self._ipv4(at), end)
        else:
            self._tunnel(lambda: self._ipv6(at), end)

    def _gre(self, at: int, end: int) -> None:
        """RFC 2784 with the key and the sequence number of RFC 2890; not PPTP's version 1."""
        flags, kind = self._u16(at), self._u16(at + 2)
        if flags & (_GRE_ROUTING | _GRE_VERSION):
            return
        optional_words = (_GRE_CHECKSUM, _GRE_KEY, _GRE_SEQUENCE)
        payload = at + 4 + 4 * sum(flags & each > 0 for each in optional_words)
        if payload > end:
            return
        if flags & _GRE_CHECKSUM:
            gre = Transport(at, payload, end, at + 4, b"", (at, at), optional=False, is_udp=False)
            self.transports.append(gre)
        if kind == _GRE_ETHERNET:
            self._tunnel(lambda: self.ethernet(payload), end)
        else:
            self._tunnel(lambda: self._of_type(kind, payload), end)

    def _tunnel(self, walk: Callable[[], None], end: int) -> None:
        """Go on inside a tunnel whose payload ends at `end`."""
        self.complete = False
        if self._depth == _DEEPEST:
            return
        self._depth += 1
        walk()
        if not self.transports or self.transports[-1].end != end:
            # Padding behind the inner packet: the signature would not lie in its payload.
            self.complete = False

    def _network(self, at: int) -> None:
        if self._frame[at] >> 4 == 4:
            self._ipv4(at)
        elif self._frame[at] >> 4 == 6:
            self._ipv6(at)

    def _ends(self, end: int) -> bool:
        """Note where the packet ends; whether that lies in the frame."""
        if end > len(self._frame):
            return False
        if not self._found_end:
            self._found_end, self.packet_end = True, end
        return True

    def _u16(self, at: int) -> int:
        (word,) = struct.unpack_from("!H", self._frame, at)
        return int(word)
