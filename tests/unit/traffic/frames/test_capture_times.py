"""Time stamps of captures: read in all forms that files have, refused where there is no gap."""

import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import PcapNgReader, RawPcapReader, wrpcap, wrpcapng

from plimsoll.errors import InputError
from plimsoll.traffic.frames.capture import load_capture, load_gaps
from tests.worded.says import Says

FRAME = bytes(60)
# 2026-11-27, in s since 1970; the high half of a pcapng stamp in ns is not 0.
THEN_S = 1_795_737_600


def _pcap(times: Sequence[tuple[int, int]], order: str = "<", magic: int = 0xA1B2C3D4) -> bytes:
    records = [struct.pack(f"{order}IIII", *each, 60, 60) + FRAME for each in times]
    return struct.pack(f"{order}IHHIIII", magic, 2, 4, 0, 0, 65535, 1) + b"".join(records)


def _block(kind: int, body: bytes, order: str) -> bytes:
    size = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + size + body + size


def _interface(order: str, unit: int | None = None, offset_s: int | None = None) -> bytes:
    # A comment of 3 bytes comes first, and is padded.
    options = struct.pack(f"{order}HH3sx", 1, 3, b"abc")
    if unit is not None:
        options += struct.pack(f"{order}HHBxxx", 9, 1, unit)
    if offset_s is not None:
        options += struct.pack(f"{order}HHq", 14, 8, offset_s)
    options += struct.pack(f"{order}HH", 0, 0)
    return _block(1, struct.pack(f"{order}HHI", 1, 0, 0) + options, order)


def _packet(time: int, order: str = "<", interface: int = 0) -> bytes:
    head = struct.pack(f"{order}IIIII", interface, time >> 32, time & 0xFFFFFFFF, 60, 60)
    return _block(6, head + FRAME, order)


def _pcapng(*blocks: bytes, order: str = "<") -> bytes:
    section = struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)
    return _block(0x0A0D0D0A, section, order) + b"".join(blocks)


def _gaps(folder: Path, content: bytes, **choice: Any) -> tuple[int, ...]:
    path = folder / "some.pcap"
    path.write_bytes(content)
    return load_gaps(path, **choice).gaps_ns


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("magic", "unit_ns"), [(0xA1B2C3D4, 1000), (0xA1B23C4D, 1)])
def test_pcap_has_microseconds_or_nanoseconds(
    tmp_path: Path, order: str, magic: int, unit_ns: int
) -> None:
    times = [(THEN_S, 999_000), (THEN_S, 999_500), (THEN_S, 999_500), (THEN_S + 1, 0)]
    gaps = _gaps(tmp_path, _pcap(times, order, magic))
    second = 10**9 - 999_500 * unit_ns
    # Behind the last frame comes the mean of the others, here a fraction of ns too much.
    assert gaps == (500 * unit_ns, 0, second, -(-(500 * unit_ns + second) // 3))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("unit", "a_second"),
    [(None, 10**6), (6, 10**6), (9, 10**9), (3, 1000), (0x80 | 20, 2**20), (0x80, 1)],
)
def test_a_pcapng_interface_says_what_its_stamps_count(
    tmp_path: Path, order: str, unit: int | None, a_second: int
) -> None:
    then = THEN_S * a_second
    stamps = [then, then + 5, then + 5 + 7 * a_second]
    blocks = [_interface(order, unit), *(_packet(each, order) for each in stamps)]
    gaps = _gaps(tmp_path, _pcapng(*blocks, order=order))
    assert gaps[1] == pytest.approx(7e9, abs=1)
    assert gaps[0] == pytest.approx(5e9 / a_second, abs=1)


def test_finer_stamps_than_nanoseconds_do_not_add_their_roundings_up(tmp_path: Path) -> None:
    stamps = [_packet(10**15 + 37 * number) for number in range(101)]
    gaps = _gaps(tmp_path, _pcapng(_interface("<", 11), *stamps))
    assert set(gaps[:-1]) == {0, 1}
    assert sum(gaps[:-1]) == 37


def test_interfaces_have_units_and_offsets_of_their_own(tmp_path: Path) -> None:
    """As mergecap writes them: stamps of one file are in order across all interfaces."""
    content = _pcapng(
        _interface("<", 9),
        _interface("<", 6, THEN_S),
        _packet(THEN_S * 10**9),
        _packet(250, interface=1),
        _packet(THEN_S * 10**9 + 250_500),
    )
    assert _gaps(tmp_path, content)[:2] == (250_000, 500)


def test_old_packet_blocks_have_stamps_too(tmp_path: Path) -> None:
    def old(time: int) -> bytes:
        head = struct.pack("<HHIIII", 0, 0, time >> 32, time & 0xFFFFFFFF, 60, 60)
        return _block(2, head + FRAME, "<")

    content = _pcapng(_interface("<"), old(THEN_S * 10**6), old(THEN_S * 10**6 + 3))
    assert _gaps(tmp_path, content) == (3000, 3000)


@pytest.mark.parametrize("kind", ["pcap", "pcap in ns", "pcapng"])
def test_gaps_are_those_that_scapy_reads(tmp_path: Path, kind: str) -> None:
    packets = []
    for number, micros in enumerate([0, 10, 10, 13, 900_001, 2_900_001]):
        packets.append(Ether() / IP() / UDP(sport=number) / bytes(30))
        packets[-1].time = THEN_S + micros / 1e6
    path = tmp_path / "scapys"
    if kind == "pcapng":
        wrpcapng(str(path), packets)
        read = [packet.time for packet in PcapNgReader(str(path))]
        seen_ns = [round(each * 10**9) for each in read]
    else:
        wrpcap(str(path), packets, nano=kind == "pcap in ns")
        unit_ns = 1 if kind == "pcap in ns" else 1000
        seen = [meta for _, meta in RawPcapReader(str(path))]
        seen_ns = [meta.sec * 10**9 + meta.usec * unit_ns for meta in seen]
    gaps = load_gaps(path).gaps_ns
    assert list(gaps[:-1]) == [later - earlier for earlier, later in pairwise(seen_ns)]
    assert sum(gaps[:-1]) == pytest.approx(2_900_001_000, abs=1000)


def test_chosen_frames_have_the_gaps_between_them(tmp_path: Path) -> None:
    content = _pcap([(0, 0), (0, 100), (0, 300), (0, 700), (9, 0)])
    assert _gaps(tmp_path, content, first=2, count=3) == (200_000, 400_000, 300_000)


REFUSED = {
    "one frame": (
        _pcap([(1, 0)]),
        ("1",),
    ),
    "backwards": (
        _pcap([(1, 0), (1, 500), (1, 497)]),
        ("3", "2"),
    ),
    "all at once": (
        _pcap([(1, 7)] * 4),
        ("1", "4"),
    ),
    "without": (
        _pcapng(_interface("<"), _packet(5), _block(3, struct.pack("<I", 60) + FRAME, "<")),
        ("2",),
    ),
    "a week": (
        _pcap([(0, 0), (1, 0), (604_801, 1)]),
        ("3", "2", "first: 1, count: 2"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_captures_without_gaps_are_refused_by_frame(tmp_path: Path, name: str, says: Says) -> None:
    content, facts = REFUSED[name]
    path = tmp_path / "some.pcap"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_gaps(path)
    assert caught.value.where == str(path)
    assert caught.value == says(*facts)
    # Nobody needs the stamps of frames that are sent at another pacing.
    assert load_capture(path).order


def test_frames_are_named_by_their_number_in_the_file(tmp_path: Path, says: Says) -> None:
    content = _pcap([(3, 0), (1, 0), (2, 0), (1, 999_999)])
    with pytest.raises(InputError) as caught:
        _gaps(tmp_path, content, first=2)
    assert caught.value == says("frame", "4", "1", "3")
    with pytest.raises(InputError, match="frame 4 alone"):
        _gaps(tmp_path, content, first=4)


def test_a_week_may_lie_between_two_frames(tmp_path: Path) -> None:
    assert _gaps(tmp_path, _pcap([(0, 0), (604_800, 0)])) == (604_800 * 10**9,) * 2


def test_a_damaged_interface_is_refused(tmp_path: Path) -> None:
    cut = _block(1, struct.pack("<HHIHH", 1, 0, 0, 9, 1), "<")
    path = tmp_path / "some.pcap"
    path.write_bytes(_pcapng(cut))
    with pytest.raises(InputError, match="is damaged"):
        load_capture(path)
