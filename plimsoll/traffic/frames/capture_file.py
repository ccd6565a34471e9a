"""Frames out of pcap and pcapng files, whatever is in them.

Scapy's readers take a damaged file for a short one, so the formats are read here:
draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from plimsoll.errors import InputError
from plimsoll.text.given_path import read_regular_file

# All is read at once; 4096 of the largest frames take 38 MB.
_MAX_MIB = 64
_ETHERNET = 1
_ETHERNET_HEADER_BYTES = 14
_PCAP_MAJOR = 2
# In the link type's upper bits: that the FCS was captured, and its length in 16-bit words.
_FCS_KNOWN, _FCS_SHIFT = 1 << 26, 28
# Byte order, and how many ns the unit of the time stamps' fractions has.
_PCAP_MAGICS = {
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\x3c\x4d": (">", 1),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
}
_PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
# Options of an interface: the unit of its time stamps, the length of the FCS, and what is added
# to time stamps, in s; of a packet: its flags.
_END_OF_OPTIONS, _TIME_UNIT, _FCS_LENGTH, _TIME_OFFSET = 0, 9, 13, 14
_PACKET_FLAGS = 2
# In a packet's flags: the FCS's length in bytes, 0 where it is not known.
_FLAGS_FCS_SHIFT, _FLAGS_FCS_MASK = 5, 0xF
# Of an interface it is in bits by the format, and 4 by the format's example and some writers.
_FCS_BYTES_OF = {0: 0, 4: 4, 32: 4}
_MICROSECONDS = 6
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ")
_DAMAGED = "capture it again, or repair it with Wireshark's editcap"


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """A whole frame, without FCS; `number` counts from 1 as Wireshark does.

    `time_ns` is its time stamp, rounded down to ns; None where the file has none of it.
    """

    number: int
    data: bytes
    time_ns: int | None


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
    for number, (link, data, length, fcs, time_ns) in enumerate(packets, start=1):
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
        yield CapturedFrame(number, frame, time_ns)


class _Packet(NamedTuple):
    """`data` was captured of a frame of `length` bytes, of which `fcs` were FCS."""

    link: int
    data: bytes
    length: int
    fcs: int
    time_ns: int | None


_Packets = Iterator[_Packet]


class _Interface(NamedTuple):
    """Frames are cut to `snapped` bytes, 0 for no limit; a second has `units` of time.

    `fcs` bytes of each are FCS, unless its own flags say otherwise.
    """

    link: int
    snapped: int
    units: int
    offset_s: int
    fcs: int

    def time_ns(self, high: int, low: int) -> int:
        """A time stamp in ns, rounded down."""
        return (high << 32 | low) * 10**9 // self.units + self.offset_s * 10**9


def _content(path: Path) -> bytes:
    remedy = "cut the needed part out of it, with editcap -r"
    try:
        return read_regular_file(path, _MAX_MIB, remedy)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot be read: {reason}", where=str(path), remedy="give a readable capture file"
        ) from None


def _pcap(content: bytes, path: Path) -> _Packets:
    endian, unit_ns = _PCAP_MAGICS[content[:4]]
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
        second, fraction, captured, length = struct.unpack_from(f"{endian}IIII", content, at)
        at += 16
        if at + captured > len(content):
            raise _damaged(path, f"frame {number}")
        time_ns = second * 10**9 + fraction * unit_ns
        yield _Packet(link & 0xFFFF, content[at : at + captured], length, fcs, time_ns)
        at += captured
        number += 1


def _pcapng(content: bytes, path: Path) -> _Packets:
    """Sections hold blocks; interfaces are numbered anew in each section."""
    at, endian = 0, "<"
    interfaces: list[_Interface] = []
    while at < len(content):
        if content[at : at + 4] == _PCAPNG_MAGIC:
            endian = ">" if content[at + 8 : at + 12] == b"\x1a\x2b\x3c\x4d" else "<"
            interfaces = []
        kind, body, at = _block(content, at, endian, path)
        try:
            if kind == _INTERFACE:
                interfaces.append(_described(body, endian, path))
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


def _described(body: bytes, endian: str, path: Path) -> _Interface:
    """An interface's block; raises struct.error where it is too short for what it says."""
    link, _, snapped = struct.unpack_from(f"{endian}HHI", body)
    unit, offset_s, fcs = _MICROSECONDS, 0, 0
    for code, at in _options(body, 8, endian):
        if code == _TIME_UNIT:
            (unit,) = struct.unpack_from("B", body, at)
        elif code == _TIME_OFFSET:
            (offset_s,) = struct.unpack_from(f"{endian}q", body, at)
        elif code == _FCS_LENGTH:
            (fcs,) = struct.unpack_from("B", body, at)
    if link == _ETHERNET and fcs not in _FCS_BYTES_OF:
        raise InputError(
            f"says that the FCS of its Ethernet frames has {fcs} bits",
            where=str(path),
            remedy="convert it to pcap with Wireshark's editcap -F pcap",
        )
    # The highest bit says that the rest is a power of two, and not of ten.
    units = 1 << (unit & 0x7F) if unit & 0x80 else 10**unit
    return _Interface(link, snapped, units, offset_s, _FCS_BYTES_OF.get(fcs, 0))


def _options(body: bytes, at: int, endian: str) -> Iterator[tuple[int, int]]:
    """Each option's code and where its value is, from the first one at `at`."""
    while at < len(body):
        code, size = struct.unpack_from(f"{endian}HH", body, at)
        if code == _END_OF_OPTIONS:
            return
        yield code, at + 4
        at += 4 + size + -size % 4


def _packet(
    kind: int, body: bytes, endian: str, interfaces: list[_Interface], path: Path
) -> _Packet:
    """One packet block; raises struct.error where it is too short for what it says."""
    if kind == _SIMPLE_PACKET:
        (length,) = struct.unpack_from(f"{endian}I", body)
        interface = _interface(interfaces, 0, path)
        start, captured, time_ns = 4, min(length, interface.snapped or length), None
    else:
        form = "IIIII" if kind == _PACKET else "HHIIII"
        number, *_, high, low, captured, length = struct.unpack_from(f"{endian}{form}", body)
        interface = _interface(interfaces, number, path)
        start, time_ns = 20, interface.time_ns(high, low)
    end = start + captured
    if end > len(body):
        raise struct.error(captured)
    fcs = interface.fcs
    if kind != _SIMPLE_PACKET:
        fcs = _fcs_by_flags(body, end + -end % 4, endian) or fcs
    return _Packet(interface.link, body[start:end], length, fcs, time_ns)


def _fcs_by_flags(body: bytes, options: int, endian: str) -> int:
    """The bytes of FCS by the packet's own flags; 0 where they do not say."""
    for code, at in _options(body, options, endian):
        if code == _PACKET_FLAGS:
            (flags,) = struct.unpack_from(f"{endian}I", body, at)
            return int(flags) >> _FLAGS_FCS_SHIFT & _FLAGS_FCS_MASK
    return 0


def _interface(interfaces: list[_Interface], number: int, path: Path) -> _Interface:
    if number >= len(interfaces):
        raise InputError(
            f"is damaged: a frame is of interface {number}, of which the file says nothing",
            where=str(path),
            remedy=_DAMAGED,
        )
    return interfaces[number]


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"is damaged: it ends within {what}", where=str(path), remedy=_DAMAGED)
