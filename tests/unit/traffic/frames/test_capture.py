"""Capture files as streams: read, given room for the signature, refused."""

import os
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.layers.sctp import SCTP
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw
from scapy.utils import wrpcap, wrpcapng

from plimsoll.errors import InputError
from plimsoll.traffic.frames.capture import load_capture, sendable
from plimsoll.traffic.frames.capture_file import read_capture
from plimsoll.traffic.frames.captured_headers import captured_headers
from plimsoll.traffic.imported.trafficgen import load_profile
from plimsoll.traffic.streams.profile import Profile
from tests.unit.traffic.frame_reader import parse, signed
from tests.worded.says import Says

E = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
I4 = IP(src="10.0.0.1", dst="10.0.0.2")
I6 = IPv6(src="2001:2::1", dst="2001:2::2")
CONTENT = bytes(range(100, 160))


def _pcap(
    frames: Sequence[bytes], order: str = "<", magic: int = 0xA1B2C3D4, link: int = 1
) -> bytes:
    header = struct.pack(f"{order}IHHIIII", magic, 2, 4, 0, 0, 65535, link)
    records = [struct.pack(f"{order}IIII", 1, 2, len(f), len(f)) + f for f in frames]
    return header + b"".join(records)


def _block(kind: int, body: bytes, order: str) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + size + body + size


def _section(order: str) -> bytes:
    return _block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def _interface(order: str, link: int = 1, snapped: int = 0) -> bytes:
    return _block(1, struct.pack(f"{order}HHI", link, 0, snapped), order)


def _enhanced(frame: bytes, order: str, length: int | None = None, interface: int = 0) -> bytes:
    sizes = (len(frame), len(frame) if length is None else length)
    return _block(6, struct.pack(f"{order}IIIII", interface, 0, 0, *sizes) + frame, order)


def _file(folder: Path, content: bytes) -> Path:
    path = folder / "some.pcap"
    path.write_bytes(content)
    return path


def _refused(path: Path, **choice: Any) -> str:
    with pytest.raises(InputError) as caught:
        load_capture(path, **choice)
    assert caught.value.where == str(path)
    assert caught.value.remedy
    return caught.value.message


def with_room(frame: bytes) -> tuple[bytes, bool]:
    made = sendable(frame)
    return made.data, made.lengthened


UDP_FRAMES = [bytes(E / I4 / UDP(sport=n, dport=9) / Raw(CONTENT)) for n in range(1, 6)]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D])
def test_pcap_is_read_in_either_byte_order(tmp_path: Path, order: str, magic: int) -> None:
    capture = load_capture(_file(tmp_path, _pcap(UDP_FRAMES, order, magic)))
    assert [parse(frame).ports for frame in capture.frames] == [[(n, 9)] for n in range(1, 6)]
    assert capture.order == (0, 1, 2, 3, 4)
    assert (capture.overwritten, capture.lengthened) == (5, 0)


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_is_read_in_either_byte_order(tmp_path: Path, order: str) -> None:
    first, second, third, *_ = UDP_FRAMES
    simple = _block(3, struct.pack(f"{order}I", len(second)) + second, order)
    sizes = (len(third), len(third))
    old = _block(2, struct.pack(f"{order}HHIIII", 0, 0, 0, 0, *sizes) + third, order)
    unknown = _block(0xBAD, b"whatever", order)
    blocks = [_section(order), _interface(order), _enhanced(first, order), unknown, simple, old]
    capture = load_capture(_file(tmp_path, b"".join(blocks)))
    assert [parse(frame).ports[0][0] for frame in capture.frames] == [1, 2, 3]


def test_interfaces_are_each_sections_own(tmp_path: Path) -> None:
    """The second section has another byte order, and its first interface is Ethernet's."""
    other = _section("<") + _interface("<", link=113)
    content = other + _section(">") + _interface(">") + _enhanced(UDP_FRAMES[0], ">")
    assert len(load_capture(_file(tmp_path, content)).frames) == 1


def _option(code: int, value: bytes, order: str) -> bytes:
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("bits", [4, 32])
def test_an_fcs_that_the_interface_tells_of_is_taken_off(
    tmp_path: Path, order: str, bits: int
) -> None:
    """Of a frame that is not IP the packet's end does not tell it from payload."""
    lldp = bytes(Ether(src=E.src, dst=E.dst, type=0x88CC) / Raw(CONTENT))
    options = _option(2, b"eth0", order) + _option(13, bytes([bits]), order) + bytes(4)
    interface = _block(1, struct.pack(f"{order}HHI", 1, 0, 0) + options, order)
    simple = _block(3, struct.pack(f"{order}I", len(lldp) + 4) + lldp + b"FCS!", order)
    content = _section(order) + interface + _enhanced(lldp + b"FCS!", order) + simple
    frames = list(read_capture(_file(tmp_path, content)))
    assert [frame.data for frame in frames] == [lldp, lldp]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("bits", [None, 0, 32])
def test_a_packets_own_flags_tell_of_its_fcs(tmp_path: Path, order: str, bits: int | None) -> None:
    lldp = bytes(Ether(src=E.src, dst=E.dst, type=0x88CC) / Raw(CONTENT[:59]))
    options = b"" if bits is None else _option(13, bytes([bits]), order)
    interface = _block(1, struct.pack(f"{order}HHI", 1, 0, 0) + options, order)

    def enhanced(data: bytes, flags: int) -> bytes:
        own = _option(1, b"comment", order) + _option(2, struct.pack(f"{order}I", flags), order)
        packet = struct.pack(f"{order}IIIII", 0, 0, 0, len(data), len(data)) + data
        return _block(6, packet + bytes(-len(data) % 4) + own + bytes(4), order)

    # An inbound frame with 4 bytes of FCS, and one whose flags do not say, as the interface does.
    unsaid = lldp + (b"FCS!" if bits == 32 else b"")
    content = _section(order) + interface + enhanced(lldp + b"FCS!", 4 << 5 | 1)
    content += enhanced(unsaid, 1)
    assert [f.data for f in read_capture(_file(tmp_path, content))] == [lldp, lldp]


def test_an_fcs_that_ethernet_does_not_have_is_refused(tmp_path: Path, says: Says) -> None:
    options = _option(13, b"\x10", "<") + bytes(4)
    interface = _block(1, struct.pack("<HHI", 1, 0, 0) + options, "<")
    path = _file(tmp_path, _section("<") + interface + _enhanced(UDP_FRAMES[0], "<"))
    assert _refused(path) == says("16")


@pytest.mark.parametrize("write", [wrpcap, wrpcapng])
def test_what_scapy_writes_is_read(tmp_path: Path, write: Any) -> None:
    path = tmp_path / "scapys"
    write(str(path), [Ether(frame) for frame in UDP_FRAMES])
    assert len(load_capture(path).frames) == 5


def test_frames_are_kept_once_and_sent_in_the_files_order(tmp_path: Path) -> None:
    a, b, *_ = UDP_FRAMES
    capture = load_capture(_file(tmp_path, _pcap([a, b, a, a])))
    assert len(capture.frames) == 2
    assert capture.order == (0, 1, 0, 0)
    assert capture.mean_frame_size == len(a) + 4


def test_some_of_the_frames_may_be_chosen(tmp_path: Path) -> None:
    capture = load_capture(_file(tmp_path, _pcap(UDP_FRAMES)), first=2, count=3)
    assert [parse(frame).ports[0][0] for frame in capture.frames] == [2, 3, 4]


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = _file(tmp_path, _pcap(UDP_FRAMES[:1]))
    assert len(load_capture(path).frames) == 1
    path.write_bytes(_pcap(UDP_FRAMES))
    assert len(load_capture(path).frames) == 5


WITH_PAYLOAD: list[Packet] = [
    E / I4 / UDP(),
    E / I4 / TCP(options=[("MSS", 1460)]),
    E / I4 / ICMP(),
    E / I6 / UDP(),
    E / I6 / TCP(),
    E / Dot1Q(vlan=5) / Dot1Q(vlan=6) / I4 / UDP(),
    E / I4 / UDP(chksum=0, dport=4789) / VXLAN(flags=8, vni=5) / E / I4 / TCP(),
    E / I4 / UDP(dport=4789) / VXLAN(flags=8, vni=5) / E / I6 / UDP(),
    # With a wrong checksum, as captured on a host that leaves it to the NIC.
    E / I4 / UDP(chksum=0x1234),
]


@pytest.mark.parametrize("packet", WITH_PAYLOAD, ids=lambda p: p.summary())
@pytest.mark.parametrize("length", [18, 19, 40])
def test_the_signature_replaces_the_payloads_end(packet: Packet, length: int) -> None:
    before = bytes(packet / Raw(CONTENT[:length]))
    frame, longer = with_room(before.ljust(60, b"\0"))
    assert not longer
    assert len(frame) == max(60, len(before))
    for each in (frame, signed(frame, CONTENT[:16])):
        assert all(parse(each).valid)
    assert parse(frame).payload == CONTENT[: length - 18] + bytes(18)


def test_a_udp_checksum_that_is_not_there_stays_away() -> None:
    frame, _ = with_room(bytes(E / I4 / UDP(chksum=0) / Raw(CONTENT)))
    assert frame[40:42] == b"\0\0"


WITHOUT_ROOM: list[Packet] = [
    E / I4 / TCP(flags="A"),
    E / I4 / UDP() / Raw(CONTENT[:17]),
    E / I4 / SCTP() / Raw(CONTENT),
    IPv6ExtHdrRouting(addresses=["2001:2::9"], segleft=1),
    E / IP(src="10.0.0.1", dst="10.0.0.2", flags="MF") / UDP() / Raw(CONTENT),
    E / IP(src="10.0.0.1", dst="10.0.0.2", frag=9) / Raw(CONTENT),
    E / I4 / UDP(dport=4789) / VXLAN(flags=8) / E / ARP(pdst="10.0.0.9"),
    E / I4 / UDP(len=9999) / Raw(CONTENT),
    Ether(src=E.src, dst=E.dst, type=0x88CC) / Raw(CONTENT),
]


@pytest.mark.parametrize("packet", WITHOUT_ROOM, ids=lambda p: p.summary())
def test_frames_without_room_are_lengthened_and_otherwise_left_alone(packet: Packet) -> None:
    if isinstance(packet, IPv6ExtHdrRouting):
        packet = E / I6 / packet / UDP() / Raw(CONTENT)
    before = bytes(packet)
    frame, longer = with_room(before)
    assert longer
    assert frame[: len(before)] == before
    assert frame[len(before) :] == bytes(max(18, 60 - len(before)))


# As a host that leaves checksums to its card has them before they are sent: IPv4's zero, the
# others the sum of the pseudo header or anything else.
OFFLOADED: list[tuple[Packet, tuple[str, ...]]] = [
    (E / IP(src="10.0.0.1", dst="10.0.0.2", chksum=0) / UDP() / Raw(CONTENT), ("IP",)),
    (E / IP(src="10.0.0.1", dst="10.0.0.2", chksum=0) / SCTP() / Raw(CONTENT), ("IP",)),
    (E / IP(src="10.0.0.1", dst="10.0.0.2", chksum=0, flags="MF") / Raw(CONTENT), ("IP",)),
    (E / I4 / TCP(flags="S", chksum=0x1234, options=[("MSS", 1460)]), ("TCP",)),
    (E / I4 / TCP(flags="A", chksum=0x1234), ("TCP",)),
    (E / I6 / TCP(flags="A", chksum=0x1234), ("TCP",)),
    (E / I4 / UDP(chksum=0x1234) / Raw(CONTENT), ("UDP",)),
    (E / I4 / UDP(chksum=0x1234) / Raw(b"short"), ("UDP",)),
    (E / I4 / ICMP(chksum=0x1234), ("ICMP",)),
    (
        E / I4 / UDP(dport=4789, chksum=0x1234) / VXLAN(flags=8) / E / I4 / TCP(chksum=1),
        ("UDP", "TCP"),
    ),
    (E / I4 / UDP(dport=4789, chksum=0x1234) / VXLAN(flags=8) / E / ARP(), ("UDP",)),
]


@pytest.mark.parametrize(("packet", "layers"), OFFLOADED, ids=lambda p: getattr(p, "name", ""))
def test_checksums_that_were_left_to_the_card_are_fixed_or_kept(
    packet: Packet, layers: tuple[str, ...]
) -> None:
    captured = bytes(packet)
    fixed, kept = sendable(captured), sendable(captured, "keep")
    assert (fixed.wrong, kept.wrong) == (True, True)
    assert _wrong_layers(fixed.data) == ()
    assert _wrong_layers(kept.data) == _wrong_layers(captured) == layers
    # What it would be without offload is right, and stays so.
    assert not sendable(fixed.data).wrong


def _wrong_layers(frame: bytes) -> tuple[str, ...]:
    """The layers whose checksums are other than those that Scapy writes."""
    found = Ether(frame)
    again = found.copy()
    for each in again.iterpayloads():
        if type(each) in (IP, TCP, ICMP) or (isinstance(each, UDP) and each.chksum):
            del each.chksum
    right = Ether(bytes(again))
    return tuple(
        type(ours).__name__
        for ours, theirs in zip(found.iterpayloads(), right.iterpayloads(), strict=True)
        if type(ours) in (IP, TCP, UDP, ICMP) and ours.chksum != theirs.chksum
    )


def test_extension_headers_are_passed_over() -> None:
    frame, longer = with_room(bytes(E / I6 / IPv6ExtHdrHopByHop() / UDP() / Raw(CONTENT)))
    assert not longer
    segment = frame[14 + 40 + 8 :]
    assert frame[-18:] == bytes(18)
    rebuilt = Ether(frame)
    stated = rebuilt[UDP].chksum
    del rebuilt[UDP].chksum
    assert Ether(bytes(rebuilt))[UDP].chksum == stated
    assert len(segment) == 8 + len(CONTENT)


def test_arp_fits_into_the_smallest_frame() -> None:
    arp = bytes(E / ARP(psrc="10.0.0.1", pdst="10.0.0.2", hwsrc=E.src))
    assert len(arp) == 42
    frame, longer = with_room(arp + b"padding padding!!!")
    assert (frame, longer) == (arp + bytes(18), False)


def test_padding_that_is_too_short_is_made_longer() -> None:
    """An acknowledgement of 54 bytes, as it is captured from the wire."""
    ack = bytes(E / I4 / TCP(flags="A"))
    frame, longer = with_room(ack.ljust(60, b"\0"))
    assert (frame, longer) == (ack + bytes(18), True)


def test_runts_become_the_smallest_frames(tmp_path: Path) -> None:
    capture = load_capture(_file(tmp_path, _pcap([bytes(14), bytes(E / I4 / ICMP())])))
    assert [len(frame) for frame in capture.frames] == [60, 60]
    assert capture.order == (0, 1)
    assert capture.lengthened == 2


@pytest.mark.parametrize("length", [0, 13])
def test_less_than_an_ethernet_header_is_refused_by_number(tmp_path: Path, length: int) -> None:
    path = _file(tmp_path, _pcap([bytes(14), bytes(length)]))
    message = f"frame 2 has {length} bytes, fewer than an Ethernet header"
    assert _refused(path) == message


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("words", "known", "taken_off"), [(2, 1, 4), (0, 1, 0), (2, 0, 0)])
def test_a_captured_fcs_is_taken_off(
    tmp_path: Path, order: str, words: int, known: int, taken_off: int
) -> None:
    """pcap-savefile(5): four bits of 16-bit words, two bits off, and whether they mean anything."""
    frame = bytes(E / ARP(psrc="10.0.0.1", pdst="10.0.0.2", hwsrc=E.src)).ljust(60, b"\0")
    link = words << 28 | known << 26 | 1
    (captured,) = read_capture(_file(tmp_path, _pcap([frame + b"FCS!"], order, link=link)))
    assert captured.data == (frame + b"FCS!")[: 64 - taken_off]
    (kept,) = read_capture(_file(tmp_path, _pcap([frame], order)))
    assert kept.data == frame


def test_a_frame_that_is_hardly_more_than_its_fcs_is_refused(tmp_path: Path, says: Says) -> None:
    path = _file(tmp_path, _pcap([bytes(17)], link=0x24000001))
    assert _refused(path) == says("1", "13")


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b"", ()),
        (b"hello, world", ()),
        (b"\x1f\x8b\x08", ()),
        (_pcap([]), ("1",)),
        (_pcap([])[:20], ()),
        (_pcap(UDP_FRAMES)[:-1], ("5",)),
        (_pcap(UDP_FRAMES) + b"\0" * 9, ("6",)),
        (_pcap(UDP_FRAMES, link=113), ("1", "113")),
        (
            _section("<") + _enhanced(UDP_FRAMES[0], "<"),
            ("0",),
        ),
        (
            _section("<") + _block(3, struct.pack("<I", 0), "<"),
            ("0",),
        ),
        (
            _section("<") + _interface("<") + _enhanced(b"", "<", interface=1),
            ("1",),
        ),
        (
            _section("<") + _interface("<")[:-4] + struct.pack("<I", 24),
            ("28",),
        ),
        (
            _section("<") + _interface("<") + _block(6, bytes(12), "<"),
            ("72",),
        ),
        (
            _pcap(UDP_FRAMES)[:4] + struct.pack("<HH", 1, 4) + _pcap(UDP_FRAMES)[8:],
            ("1.4",),
        ),
        (_section("<") + _interface("<") + _enhanced(b"abc", "<", 60), ("3", "60")),
        (_section("<") + _interface("<", 113) + _enhanced(b"abc", "<"), ("113",)),
        (_section("<") + struct.pack("<III", 6, 13, 0), ("28",)),
        (_section("<") + struct.pack("<III", 6, 2**32 - 4, 0), ("28",)),
        (_section("<") + struct.pack("<III", 6, 0, 0), ("28",)),
        (_section("<")[:-5], ("0",)),
    ],
)
def test_damaged_and_foreign_files_are_refused(
    tmp_path: Path, content: bytes, facts: tuple[str, ...], says: Says
) -> None:
    assert _refused(_file(tmp_path, content)) == says(*facts)


def test_frames_that_were_cut_are_refused_by_number(tmp_path: Path, says: Says) -> None:
    cut = struct.pack("<IIII", 0, 0, 64, 1514) + bytes(64)
    path = _file(tmp_path, _pcap(UDP_FRAMES[:2]) + cut)
    assert _refused(path) == says("3", "64", "1514")


def test_a_simple_packet_block_is_cut_by_its_interface(tmp_path: Path, says: Says) -> None:
    simple = _block(3, struct.pack("<I", 1514) + bytes(96), "<")
    path = _file(tmp_path, _section("<") + _interface("<", snapped=96) + simple)
    assert _refused(path) == says("1", "96", "1514")


def test_frames_that_are_too_large_are_refused_by_number(tmp_path: Path, says: Says) -> None:
    fits = bytes(E / I4 / UDP() / Raw(bytes(9214 - 42)))
    assert len(load_capture(_file(tmp_path, _pcap([fits]))).frames[0]) == 9214
    path = _file(tmp_path, _pcap([fits, fits + b"\0"]))
    # Of the second the byte behind the packet is left out: it was padding.
    assert load_capture(path).largest_frame_size == 9218
    larger = bytes(E / I4 / UDP() / Raw(bytes(9215 - 42)))
    assert _refused(_file(tmp_path, _pcap([fits, larger]))) == says("2", "9219")


def test_more_frames_than_there_are_templates_are_refused(tmp_path: Path, says: Says) -> None:
    path = _file(tmp_path, _pcap([bytes(60)] * 4097))
    assert _refused(path) == says("4096")
    assert len(load_capture(path, count=4096).order) == 4096
    assert len(load_capture(path, first=2).order) == 4096
    assert _refused(path, first=5000) == "has no frame 5000"


def test_files_that_cannot_be_read_are_refused(tmp_path: Path, says: Says) -> None:
    assert _refused(tmp_path / "gone.pcap") == says()
    assert _refused(tmp_path) == says()
    os.mkfifo(tmp_path / "pipe.pcap")
    assert _refused(tmp_path / "pipe.pcap") == says()
    assert "null byte" in _refused(Path("a\0b"))


def test_reading_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "large.pcap"
    path.write_bytes(_pcap(UDP_FRAMES))
    os.truncate(path, 64 * 2**20 + 1)
    assert _refused(path) == "is larger than 64 MiB"


@given(st.binary(max_size=200), st.sampled_from([b"", _pcap([]), _section("<"), _section(">")]))
def test_any_file_is_read_or_refused(content: bytes, start: bytes) -> None:
    path = Path("/tmp") / f"plimsoll-test-{os.getpid()}.pcap"
    try:
        path.write_bytes(start + content)
        with suppress(InputError):
            load_capture(path)
    finally:
        path.unlink()


@settings(max_examples=500)
@given(
    st.sampled_from([bytes(p / Raw(CONTENT)) for p in WITH_PAYLOAD]),
    st.lists(st.tuples(st.integers(0, 119), st.integers(0, 255)), max_size=4),
    st.integers(0, 120),
)
def test_any_frame_gets_room_for_a_signature(
    frame: bytes, changes: list[tuple[int, int]], length: int
) -> None:
    mutated = bytearray(frame)
    for at, value in changes:
        mutated[at % len(mutated)] = value
    before = bytes(mutated[:length])
    headers = captured_headers(before)
    assert headers.packet_end <= len(before)
    after, longer = with_room(before)
    assert after[-18:] == bytes(18)
    assert len(after) >= 60
    assert longer == (len(after) > len(before))
    # Nothing in front of the payload changes but checksums.
    if not headers.transports:
        fields = [each.checksum for each in headers.segments]
        fields += [start + 10 for start, _ in headers.ipv4_headers]
        free = {at for field in fields for at in (field, field + 1)}
        kept = [at for at in range(headers.packet_end) if at not in free]
        assert [after[at] for at in kept] == [before[at] for at in kept]


def test_a_profile_sends_captures(tmp_path: Path, says: Says) -> None:
    _file(tmp_path, _pcap([*UDP_FRAMES, bytes(E / I4 / TCP(flags="A"))]))
    path = tmp_path / "profile.yaml"
    path.write_text("streams:\n- {name: replay, role: load, pcap: some.pcap}\n")
    profile = load_profile(path)
    assert profile.notes() == [says("replay", "6", f"{tmp_path}/some.pcap", "18", "5", "1")]
    # Five of 102 bytes and one of 54 + 18, each with 4 of FCS.
    assert profile.mean_frame_size == pytest.approx((5 * 106 + 76) / 6)
    assert Profile.model_validate(profile.model_dump(mode="json")) == profile


@pytest.mark.parametrize(("choice", "sent"), [("fix", "corrected"), ("keep", "sent unchanged")])
def test_a_profile_says_how_many_checksums_were_wrong(
    tmp_path: Path, choice: str, sent: str, says: Says
) -> None:
    wrong = bytes(E / IP(src="10.0.0.1", dst="10.0.0.2", chksum=0) / TCP(flags="S", chksum=1))
    _file(tmp_path, _pcap([*UDP_FRAMES, wrong, wrong]))
    path = tmp_path / "profile.yaml"
    pcap = f"{{file: some.pcap, checksums: {choice}}}"
    path.write_text(f"streams:\n- {{name: replay, role: load, pcap: {pcap}}}\n")
    assert load_profile(path).notes()[1:] == [
        says("2", "checksums", str(sent), "pcap.checksums", str(choice))
    ]


def test_a_profile_says_so_of_one_frame(tmp_path: Path, says: Says) -> None:
    _file(tmp_path, _pcap([*UDP_FRAMES, bytes(E / I4 / TCP(flags="S", chksum=1))]))
    path = tmp_path / "profile.yaml"
    path.write_text("streams:\n- {name: replay, role: load, pcap: some.pcap}\n")
    (note,) = load_profile(path).notes()[1:]
    assert note == says("1", "pcap.checksums")


@pytest.mark.parametrize(
    ("fields", "facts"),
    [
        ("frame_size: 64", ("frame_size",)),
        ("imix: simple", ("imix",)),
        ("flows: 5", ("flows",)),
        ("vlan: 5", ("vlan",)),
        ("protocol: TCP", ("protocol",)),
        ("packet: [Ether]", ("packet",)),
    ],
)
def test_captures_are_sent_as_they_are(
    tmp_path: Path, fields: str, facts: tuple[str, ...], says: Says
) -> None:
    _file(tmp_path, _pcap(UDP_FRAMES))
    path = tmp_path / "profile.yaml"
    path.write_text(f"streams:\n- {{name: replay, role: load, pcap: some.pcap, {fields}}}\n")
    with pytest.raises(InputError) as caught:
        load_profile(path)
    assert caught.value == says("profile.yaml:2", "streams[0]", *facts)
    assert caught.value.remedy


def test_a_capture_that_is_refused_is_reported_with_its_line(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "profile.yaml"
    choice = "{file: gone.pcap, first: 3}"
    path.write_text(f"streams:\n- name: replay\n  role: load\n  pcap: {choice}\n")
    with pytest.raises(InputError) as caught:
        load_profile(path)
    assert caught.value == says(f"{path}:4", "streams[0].pcap", f"{tmp_path}/gone.pcap")


@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
def test_a_frame_of_which_more_was_captured_than_it_had_is_damage(
    tmp_path: Path, kind: str, says: Says
) -> None:
    frame = bytes(E / I4 / UDP() / Raw(CONTENT))
    path = tmp_path / "capture"
    if kind == "pcap":
        whole = struct.pack("<II", len(frame), len(frame))
        path.write_bytes(_pcap([frame]).replace(whole, struct.pack("<II", len(frame), 60)))
    else:
        path.write_bytes(_section("<") + _interface("<") + _enhanced(frame, "<", length=60))
    with pytest.raises(InputError) as caught:
        list(read_capture(path))
    assert caught.value == says("1", "60")
