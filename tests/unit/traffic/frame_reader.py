"""Frames taken apart by hand, checksums by RFC 1071: what our frames are held against."""

import struct
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

from plimsoll.traffic.plan import FieldWriter, StreamPlan

_TAGS = (0x8100, 0x88A8)


def ones_sum(data: bytes) -> int:
    """RFC 1071: the one's complement sum of 16-bit words; 0xffff over valid checksums."""
    total = 0
    for at in range(0, len(data), 2):
        total += int.from_bytes(data[at : at + 2].ljust(2, b"\0"))
        total = (total & 0xFFFF) + (total >> 16)
    return total


@dataclass
class Parsed:
    """Headers from the outermost inwards; `valid` says for each checksum whether it holds."""

    macs: list[tuple[str, str]] = field(default_factory=list)
    ethertypes: list[int] = field(default_factory=list)
    tags: list[tuple[int, int]] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    ips: list[tuple[str, str]] = field(default_factory=list)
    ttls: list[int] = field(default_factory=list)
    ports: list[tuple[int, int]] = field(default_factory=list)
    protocols: list[int] = field(default_factory=list)
    tunnels: list[int] = field(default_factory=list)
    valid: list[bool] = field(default_factory=list)
    arp: tuple[int, str, str, str, str] | None = None
    payload: bytes = b""


def parse(frame: bytes) -> Parsed:
    parsed = Parsed()
    _ethernet(frame, parsed)
    return parsed


def signed(frame: bytes, content: bytes) -> bytes:
    """The frame with a signature: 16 bytes and what makes nine words sum to 0xffff."""
    assert frame[-18:] == bytes(18)
    words = [int.from_bytes(content[at : at + 2], "little") for at in range(0, 16, 2)]
    complement = 0xFFFF - sum(words) % 0xFFFF
    return frame[:-18] + content + complement.to_bytes(2, "little")


def written(plan: StreamPlan, number: int, template: int = 0) -> bytes:
    """Frame `number`, made of a template as the engine protocol says, checksums by RFC 1624."""
    frame = bytearray(plan.frames[template])
    for writer in plan.fields:
        _write(frame, writer, number)
    return bytes(frame)


def _write(frame: bytearray, writer: FieldWriter, number: int) -> None:
    assert writer.kind in ("increment", "list")
    place = slice(writer.offset, writer.offset + writer.width)
    mask = writer.mask if writer.mask is not None else (1 << 8 * writer.width) - 1
    shift = (mask & -mask).bit_length() - 1
    before = bytes(frame)
    word = int.from_bytes(frame[place])
    index = (writer.first + number) % writer.count
    value = (
        writer.values[index] if writer.values else ((word & mask) >> shift) + index * writer.step
    )
    frame[place] = ((word & ~mask) | (value << shift & mask)).to_bytes(writer.width)
    old, new = (ones_sum(bytes(each)) for each in (before, frame))
    for fix in writer.fixes:
        assert fix % 2 == 0, "the sums are of words at even offsets"
        checksum = (int.from_bytes(before[fix : fix + 2]) - new + old) % 0xFFFF
        frame[fix : fix + 2] = (checksum or 0xFFFF).to_bytes(2)


def _ethernet(data: bytes, parsed: Parsed) -> None:
    parsed.macs.append((data[6:12].hex(":"), data[:6].hex(":")))
    (kind,) = struct.unpack_from("!H", data, 12)
    at = 14
    parsed.ethertypes.append(kind)
    while kind in _TAGS:
        control, kind = struct.unpack_from("!HH", data, at)
        parsed.tags.append((control & 0xFFF, control >> 13))
        parsed.ethertypes.append(kind)
        at += 4
    if kind == 0x8847:
        last = False
        while not last:
            (entry,) = struct.unpack_from("!I", data, at)
            parsed.labels.append(entry >> 12)
            last = bool(entry >> 8 & 1)
            at += 4
        kind = 0x0800 if data[at] >> 4 == 4 else 0x86DD
    if kind == 0x0800:
        _ipv4(data[at:], parsed)
    elif kind == 0x86DD:
        _ipv6(data[at:], parsed)
    elif kind == 0x0806:
        _arp(data[at:], parsed)
    else:
        parsed.payload = data[at:]


def _arp(data: bytes, parsed: Parsed) -> None:
    assert data[:6] == bytes.fromhex("000108000604")
    parsed.arp = (
        int.from_bytes(data[6:8]),
        data[8:14].hex(":"),
        str(IPv4Address(data[14:18])),
        data[18:24].hex(":"),
        str(IPv4Address(data[24:28])),
    )
    parsed.payload = data[28:]


def _ipv4(data: bytes, parsed: Parsed) -> None:
    header = (data[0] & 0xF) * 4
    length = int.from_bytes(data[2:4])
    assert length == len(data), "the IPv4 length is what is there"
    parsed.ips.append((str(IPv4Address(data[12:16])), str(IPv4Address(data[16:20]))))
    parsed.ttls.append(data[8])
    parsed.protocols.append(data[9])
    parsed.valid.append(ones_sum(data[:header]) == 0xFFFF)
    pseudo = data[12:20] + struct.pack("!HH", data[9], length - header)
    _transport(data[9], data[header:], pseudo, parsed)


def _ipv6(data: bytes, parsed: Parsed) -> None:
    assert int.from_bytes(data[4:6]) == len(data) - 40, "the IPv6 length is what is there"
    parsed.ips.append((str(IPv6Address(data[8:24])), str(IPv6Address(data[24:40]))))
    parsed.ttls.append(data[7])
    parsed.protocols.append(data[6])
    pseudo = data[8:40] + struct.pack("!II", len(data) - 40, data[6])
    _transport(data[6], data[40:], pseudo, parsed)


def _transport(protocol: int, data: bytes, pseudo: bytes, parsed: Parsed) -> None:
    if protocol == 1:
        parsed.valid.append(ones_sum(data) == 0xFFFF)
        parsed.payload = data[8:]
        return
    if protocol in (6, 17):
        source, destination = struct.unpack_from("!HH", data)
        parsed.ports.append((source, destination))
    if protocol == 17:
        assert int.from_bytes(data[4:6]) == len(data), "the UDP length is what is there"
        unchecked = data[6:8] == b"\0\0"
    else:
        unchecked = False
    if not unchecked:
        parsed.valid.append(ones_sum(pseudo + data) == 0xFFFF)
    if protocol == 17 and parsed.ports[-1][1] == 4789:
        assert data[8:12] == bytes.fromhex("08000000")
        parsed.tunnels.append(int.from_bytes(data[12:15]))
        _ethernet(data[16:], parsed)
    elif protocol == 17 and parsed.ports[-1][1] == 2152:
        assert data[8:10] == b"\x30\xff"
        assert int.from_bytes(data[10:12]) == len(data) - 16, "the GTP-U length is what is there"
        parsed.tunnels.append(int.from_bytes(data[12:16]))
        _ipv4(data[16:], parsed) if data[16] >> 4 == 4 else _ipv6(data[16:], parsed)
    else:
        parsed.payload = data[(data[12] >> 4) * 4 if protocol == 6 else 8 :]
