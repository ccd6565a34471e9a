"""Frames made by Scapy, and the signature as docs/engine-protocol.md describes it."""

import struct

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

SIGNATURE_BYTES = 18
HEADER_BYTES = 42


def udp_frame(
    length: int, source: str = "198.18.0.1", destination: str = "198.19.0.1", payload: bytes = b""
) -> bytes:
    """A template of `length` bytes without FCS, its checksums right, its signature's place zero."""
    filling = payload.ljust(length - HEADER_BYTES, b"\0")
    headers = (
        Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
        / IP(src=source, dst=destination, flags="DF")
        / UDP(sport=49184, dport=49185)
    )
    return bytes(headers / Raw(filling))


def signature(mark: int, stream: int, sequence: int, time: int) -> bytes:
    """The 18 bytes, the complement by the definition: all nine words sum to 0xffff."""
    words = struct.pack("<HH", mark, stream)
    words += sequence.to_bytes(6, "little") + time.to_bytes(6, "little")
    return words + struct.pack("<H", 0xFFFF - ones_sum(words))


def ones_sum(words: bytes) -> int:
    """The one's complement sum of little-endian 16-bit words."""
    total: int = sum(struct.unpack(f"<{len(words) // 2}H", words))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def signed_frame(mark: int, stream: int, sequence: int, time: int = 0, length: int = 60) -> bytes:
    """A frame as the engine would send it."""
    return udp_frame(length)[:-SIGNATURE_BYTES] + signature(mark, stream, sequence, time)


def flip(frame: bytes, bit: int) -> bytes:
    """The frame with one bit of its signature flipped, counted from the signature's start."""
    damaged = bytearray(frame)
    damaged[len(frame) - SIGNATURE_BYTES + bit // 8] ^= 1 << bit % 8
    return bytes(damaged)
