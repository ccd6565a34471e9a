"""Template frames, byte by byte: Ethernet, IPv4, UDP, and room for the signature."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address

from plimsoll.traffic.plan import FCS_BYTES, SIGNATURE_BYTES

_ETHERNET_BYTES = 14
_IPV4_BYTES = 20
_UDP_BYTES = 8
_HEADER_BYTES = _ETHERNET_BYTES + _IPV4_BYTES + _UDP_BYTES

# The smallest frame, with FCS, that holds the headers and the signature: exactly
# Ethernet's own minimum.
MIN_FRAME_SIZE = _HEADER_BYTES + SIGNATURE_BYTES + FCS_BYTES
# As the engine takes them.
MAX_FRAME_SIZE = 9218

# Where the fields that may change per frame lie, and the checksums that cover them.
DST_MAC_OFFSET = 0
SRC_MAC_OFFSET = 6
IP_CHECKSUM_OFFSET = 24
SRC_IP_OFFSET = 26
DST_IP_OFFSET = 30
SRC_PORT_OFFSET = 34
DST_PORT_OFFSET = 36
UDP_CHECKSUM_OFFSET = 40

_ETHERTYPE_IPV4 = 0x0800
_VERSION_AND_LENGTH = 0x45
_DONT_FRAGMENT = 0x4000
_TTL = 64
_PROTOCOL_UDP = 17


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One end of a stream; `mac` is six bytes."""

    mac: bytes
    ip: IPv4Address
    port: int


def udp_frame(source: Endpoint, destination: Endpoint, frame_size: int) -> bytes:
    """A frame of `frame_size` bytes with FCS, given without it, its payload zero.

    The UDP checksum holds for the zeroed signature, and stays valid when the
    engine fills that in: its words sum to 0xffff, which is zero in one's
    complement.
    """
    udp_length = frame_size - FCS_BYTES - _ETHERNET_BYTES - _IPV4_BYTES
    ethernet = destination.mac + source.mac + struct.pack("!H", _ETHERTYPE_IPV4)
    udp = _udp_header(source, destination, udp_length)
    payload = bytes(udp_length - _UDP_BYTES)
    return ethernet + _ipv4_header(source, destination, _IPV4_BYTES + udp_length) + udp + payload


def internet_checksum(data: bytes) -> int:
    """RFC 1071: the one's complement of the one's complement sum of 16-bit words."""
    padded = data + bytes(len(data) % 2)
    total = sum(int.from_bytes(padded[at : at + 2]) for at in range(0, len(padded), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _ipv4_header(source: Endpoint, destination: Endpoint, total_length: int) -> bytes:
    def header(checksum: int) -> bytes:
        return struct.pack(
            "!BBHHHBBH4s4s",
            _VERSION_AND_LENGTH,
            0,
            total_length,
            0,
            _DONT_FRAGMENT,
            _TTL,
            _PROTOCOL_UDP,
            checksum,
            source.ip.packed,
            destination.ip.packed,
        )

    return header(internet_checksum(header(0)))


def _udp_header(source: Endpoint, destination: Endpoint, length: int) -> bytes:
    pseudo_header = struct.pack(
        "!4s4sHH", source.ip.packed, destination.ip.packed, _PROTOCOL_UDP, length
    )
    unchecked = struct.pack("!HHHH", source.port, destination.port, length, 0)
    # RFC 768: a checksum of zero would mean that there is none. The payload adds nothing.
    checksum = internet_checksum(pseudo_header + unchecked) or 0xFFFF
    return unchecked[:-2] + struct.pack("!H", checksum)
