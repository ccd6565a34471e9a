"""Frames out of pcap and pcapng files, whatever is in them.

Scapy's readers take a damaged file for a short one, so the formats are read here:
draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.text.regular_file import read_regular_file

# All is read at once; 4096 of the largest frames take 38 MB.
_MOST_MIB = 64
_ETHERNET = 1
_ETHERNET_HEADER_BYTES = 14
_PCAP_MAJOR = 2
# In the link type's upper bits: that the FCS was captured, and its length in 16-bit words.
_FCS_KNOWN, _FCS_SHIFT = 1 << 26, 28
_PCAP_MAGICS = {
    b"\xa1\xb2\xc3\xd4": ">",
    b"\xd4\xc3\xb2\xa1": "<",
    b"\xa1\xb2\x3c\x4d": ">",
    b"\x4d\x3c\xb2\xa1": "<",
}
_PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ")
_DAMAGED = "capture it again, or repair it with Wireshark's editcap"


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """A whole frame, without FCS; `number` counts from 1 as Wireshark does."""

    number: int
    data: bytes


def read_capture(path: Path) -> Iterator[CapturedFrame]:
    """The frames of a file, in order.

    Raises InputError for files that cannot be read, are too large, damaged or no capture,
    and for frames that were cut when captured or are not Ethernet's.
    """
    content = _content(path)
    if content[:4] == _PCAPNG_MAGIC:
        packets = _pcapng(content, path)
    elif content[:4] in _PCAP_MAGICS:
        packets = _pcap(content, path)
    elif content.startswith(_COMPRESSED):
        raise InputError("is compressed", where=str(path), remedy="unpack it first")
    else:
        raise InputError(
            "is neither pcap nor pcapng", where=str(path), remedy="give a capture file"
        )
    for number, (link, data, length, fcs) in enumerate(packets, start=1):
        if link != _ETHERNET:
            raise InputError(
                f"frame {number} has link type {link}, not Ethernet",
                where=str(path),
                remedy="capture on an Ethernet interface, and not on `any`",
            )
        if len(data) > length:
            raise InputError(
                f"is damaged: {len(data)} bytes were captured of frame {number}, "
                f"which had {length}",
                where=str(path),
                remedy=_DAMAGED,
            )
        if len(data) < length:
            raise InputError(
                f"frame {number} was cut to {len(data)} of its {length} bytes when captured",
                where=str(path),
                remedy="capture whole frames, as tcpdump -s 0 does",
            )
        frame = data[: len(data) - fcs]
        if len(frame) < _ETHERNET_HEADER_BYTES:
            raise InputError(
                f"frame {number} has {len(frame)} bytes, fewer than an Ethernet header",
                where=str(path),
                remedy="leave it out, or capture it again",
            )
        yield CapturedFrame(number, frame)


# Link type, what was captured, how long the frame was, and how much of that was FCS.
_Packet = tuple[int, bytes, int, int]
_Packets = Iterator[_Packet]


def _content(path: Path) -> bytes:
    remedy = "cut the needed part out of it, with editcap -r"
    try:
        return read_regular_file(path, _MOST_MIB, remedy)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot be read: {reason}", where=str(path), remedy="give a readable capture file"
        ) from None


def _pcap(content: bytes, path: Path) -> _Packets:
    endian = _PCAP_MAGICS[content[:4]]
    if len(content) < 24:
        raise _damaged(path, "its header")
    major, minor = struct.unpack_from(f"{endian}HH", content, 4)
    if major != _PCAP_MAJOR:
        raise InputError(
            f"is pcap of version {major}.{minor}, which is not known",
            where=str(path),
            remedy="convert it with Wireshark's editcap",
        )
    (link,) = struct.unpack_from(f"{endian}I", content, 20)
    fcs = 2 * (link >> _FCS_SHIFT) if link & _FCS_KNOWN else 0
    at, number = 24, 1
    while at < len(content):
        if at + 16 > len(content):
            raise _damaged(path, f"the header of frame {number}")
        captured, length = struct.unpack_from(f"{endian}II", content, at + 8)
        at += 16
        if at + captured > len(content):
            raise _damaged(path, f"frame {number}")
        yield link & 0xFFFF, content[at : at + captured], length, fcs
        at += captured
        number += 1


def _pcapng(content: bytes, path: Path) -> _Packets:
    """Sections hold blocks; interfaces are numbered anew in each section."""
    at, endian = 0, "<"
    interfaces: list[tuple[int, int]] = []
    while at < len(content):
        if content[at : at + 4] == _PCAPNG_MAGIC:
            endian = ">" if content[at + 8 : at + 12] == b"\x1a\x2b\x3c\x4d" else "<"
            interfaces = []
        kind, body, at = _block(content, at, endian, path)
        try:
            if kind == _INTERFACE:
                link, _, snapped = struct.unpack_from(f"{endian}HHI", body)
                interfaces.append((link, snapped))
            elif kind in (_PACKET, _OLD_PACKET, _SIMPLE_PACKET):
                yield _packet(kind, body, endian, interfaces, path)
        except struct.error:
            raise _damaged(path, f"the block that ends at byte {at}") from None


def _block(content: bytes, at: int, endian: str, path: Path) -> tuple[int, bytes, int]:
    """A block's type and body, and where the next one begins."""
    if at + 12 > len(content):
        raise _damaged(path, f"the block at byte {at}")
    kind, size = struct.unpack_from(f"{endian}II", content, at)
    if size < 12 or size % 4 or at + size > len(content):
        raise _damaged(path, f"the block at byte {at}")
    if struct.unpack_from(f"{endian}I", content, at + size - 4)[0] != size:
        raise InputError(
            f"is damaged: the block at byte {at} gives two different lengths",
            where=str(path),
            remedy=_DAMAGED,
        )
    return kind, content[at + 8 : at + size - 4], at + size


def _packet(
    kind: int, body: bytes, endian: str, interfaces: list[tuple[int, int]], path: Path
) -> _Packet:
    """One packet block; raises struct.error where it is too short for what it says."""
    if kind == _SIMPLE_PACKET:
        (length,) = struct.unpack_from(f"{endian}I", body)
        link, snapped = _interface(interfaces, 0, path)
        start, captured = 4, min(length, snapped or length)
    else:
        form = "IIIII" if kind == _PACKET else "HHIIII"
        interface, *_, captured, length = struct.unpack_from(f"{endian}{form}", body)
        link, start = _interface(interfaces, interface, path)[0], 20
    if start + captured > len(body):
        raise struct.error(captured)
    return link, body[start : start + captured], length, 0


def _interface(interfaces: list[tuple[int, int]], number: int, path: Path) -> tuple[int, int]:
    """Link type, and the length that frames are cut to."""
    if number >= len(interfaces):
        raise InputError(
            f"is damaged: a frame is of interface {number}, of which the file says nothing",
            where=str(path),
            remedy=_DAMAGED,
        )
    return interfaces[number]


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"is damaged: it ends within {what}", where=str(path), remedy=_DAMAGED)
