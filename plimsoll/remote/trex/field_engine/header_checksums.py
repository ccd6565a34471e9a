"""Internet checksums (RFC 1071) of headers whose places are given."""

from __future__ import annotations

import struct

UDP_KIND, TCP_KIND = 11, 13
_PROTOCOLS = {UDP_KIND: 17, TCP_KIND: 6, None: 58}
_CHECKSUM_AT = {UDP_KIND: 6, TCP_KIND: 16, None: 2}


def internet_checksum(covered: bytes) -> int:
    """The 16-bit checksum of some bytes."""
    padded = covered + b"\0" * (len(covered) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def fix_ipv4(frame: bytearray, at: int) -> None:
    """Compute the checksum of the IPv4 header at `at`. Raises IndexError."""
    length = (frame[at] & 0xF) * 4
    if length < 20 or at + length > len(frame):
        raise IndexError(f"no IPv4 header lies at {at}")
    frame[at + 10 : at + 12] = b"\0\0"
    frame[at + 10 : at + 12] = internet_checksum(bytes(frame[at : at + length])).to_bytes(2)


def fix_transport(frame: bytearray, l2_len: int, l3_len: int, kind: int | None) -> None:
    """Compute what is behind an IP header, and IPv4's own. Raises IndexError.

    `kind` is TRex's: 11 UDP, 13 TCP, None ICMPv6; of all others IPv4's header alone.
    """
    start = l2_len + l3_len
    is_ipv4 = frame[l2_len] >> 4 == 4
    if is_ipv4:
        fix_ipv4(frame, l2_len)
    if kind not in _PROTOCOLS:
        return
    end, addresses = _segment(frame, l2_len, start, is_ipv4=is_ipv4)
    at = start + _CHECKSUM_AT[kind]
    if at + 2 > end or end > len(frame):
        raise IndexError(f"no transport header lies at {start}")
    protocol, size = _PROTOCOLS[kind], end - start
    pseudo = struct.pack("!HH", protocol, size) if is_ipv4 else struct.pack("!II", size, protocol)
    frame[at : at + 2] = b"\0\0"
    value = internet_checksum(addresses + pseudo + frame[start:end])
    # UDP's zero would say that there is none (RFC 768).
    frame[at : at + 2] = ((value or 0xFFFF) if kind == UDP_KIND else value).to_bytes(2)


def _segment(frame: bytearray, at: int, start: int, *, is_ipv4: bool) -> tuple[int, bytes]:
    """Where it ends by the IP header's length, and the addresses."""
    if is_ipv4:
        return at + int.from_bytes(frame[at + 2 : at + 4]), bytes(frame[at + 12 : at + 20])
    return at + 40 + int.from_bytes(frame[at + 4 : at + 6]), bytes(frame[at + 8 : at + 40])
