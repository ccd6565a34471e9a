"""Captured frames in tunnels: every checksum is right in what is sent, as Scapy computes it."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrRouting,
)
from scapy.layers.l2 import ARP, GRE, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

from plimsoll.traffic.frames.capture import sendable
from plimsoll.traffic.frames.captured_headers import captured_headers
from tests.unit.traffic.frame_reader import ones_sum, signed

E = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
O4, I4 = IP(src="10.0.0.1", dst="10.0.0.2"), IP(src="172.16.0.1", dst="172.16.0.2")
O6, I6 = IPv6(src="2001:2::1", dst="2001:2::2"), IPv6(src="2001:db8::1", dst="2001:db8::2")
V = UDP(sport=5, dport=4789, chksum=0) / VXLAN(flags=8, vni=5)
G = UDP(sport=5, dport=2152) / GTP_U_Header(teid=7)
CONTENT = bytes(range(100, 160))

TUNNELS: dict[str, Packet] = {
    "gre": E / O4 / GRE(),
    "gre-checksum": E / O4 / GRE(chksum_present=1),
    "gre-key-sequence": E / O4 / GRE(key_present=1, seqnum_present=1, key=9, sequence_number=3),
    "gre-all": E / O6 / GRE(chksum_present=1, key_present=1, seqnum_present=1),
    "gre-ethernet": E / O4 / GRE(chksum_present=1) / E / Dot1Q(vlan=3),
    "gre-in-gre": E / O4 / GRE(chksum_present=1) / I6 / GRE(chksum_present=1),
    "4in4": E / O4,
    "6in6": E / O6,
    "options": E / O6 / IPv6ExtHdrDestOpt(),
    "routed": E / O6 / IPv6ExtHdrRouting(addresses=["2001:2::9"], segleft=1),
    "three": E / Dot1Q(vlan=4) / O4 / O6 / O4,
    "vxlan": E / O4 / V / E,
    "vxlan-gre": E / O6 / V / E / O4 / GRE(chksum_present=1),
    "gtpu": E / O4 / G,
    "gtpu-session": E / O4 / G / GTPPDUSessionContainer(type=1, QFI=9),
}
INNER: dict[str, Packet] = {
    "udp4": I4 / UDP(sport=1, dport=9),
    "tcp4": I4 / TCP(options=[("MSS", 1460)]),
    "icmp4": I4 / ICMP(),
    "udp6": I6 / UDP(sport=1, dport=9),
    "tcp6": I6 / TCP(),
    "icmp6": I6 / ICMPv6EchoRequest(),
}


def _packet(tunnel: str, inner: str, length: int = len(CONTENT)) -> Packet:
    return TUNNELS[tunnel].copy() / INNER[inner].copy() / Raw(CONTENT[:length])


def _fields(packet: Packet) -> list[str]:
    """The name of each layer's checksum, empty of a layer that has none."""
    names = ("chksum", "cksum")
    return [
        next((n for n in names if any(f.name == n for f in each.fields_desc)), "")
        for each in packet.iterpayloads()
    ]


def _spoilt(packet: Packet, value: int) -> bytes:
    """The frame with each checksum that is there wrong, none of which makes another right."""
    made = packet.copy()
    for each, name in zip(made.iterpayloads(), _fields(made), strict=True):
        is_there = not isinstance(each, GRE) or each.chksum_present
        is_there &= not isinstance(each, UDP) or each.chksum != 0
        if name and is_there:
            setattr(each, name, value)
    return bytes(made)


def _is_right(frame: bytes) -> bool:
    """Whether Scapy would write the same, if it computed all checksums that are there."""
    again = Ether(frame)
    for each, name in zip(again.iterpayloads(), _fields(again), strict=True):
        if name and not (isinstance(each, UDP) and not each.chksum):
            delattr(each, name)
    return bytes(again) == frame


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("tunnel", TUNNELS)
def test_what_is_in_a_tunnel_is_fixed_or_kept(tunnel: str, inner: str) -> None:
    right = bytes(_packet(tunnel, inner))
    wrong = _spoilt(_packet(tunnel, inner), 0x1234)
    assert _is_right(right)
    assert not _is_right(wrong)
    untouched, fixed, kept = sendable(right), sendable(wrong), sendable(wrong, "keep")
    assert (untouched.wrong, fixed.wrong, kept.wrong) == (False, True, True)
    assert fixed.data == untouched.data
    assert _is_right(fixed.data)
    assert kept.data == wrong[:-18] + bytes(18)
    assert not fixed.lengthened
    assert _is_right(signed(fixed.data, CONTENT[:16]))


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("tunnel", TUNNELS)
def test_frames_that_grow_have_right_checksums_too(tunnel: str, inner: str) -> None:
    right, wrong = bytes(_packet(tunnel, inner, 3)), _spoilt(_packet(tunnel, inner, 3), 0x4321)
    made = sendable(wrong)
    assert (made.wrong, made.lengthened) == (True, True)
    assert made.data == right + bytes(18)


def test_a_frame_whose_inner_checksums_alone_are_wrong_counts() -> None:
    inner = IP(src="172.16.0.1", dst="172.16.0.2", chksum=0) / UDP(chksum=0x1111) / Raw(CONTENT)
    for outer in (E / O4 / GRE(), E / O4, E / O6):
        made = sendable(bytes(outer / inner))
        assert made.wrong
        assert _is_right(made.data)


def test_gre_checksums_cover_what_is_not_known() -> None:
    right = bytes(E / O4 / GRE(chksum_present=1, proto=0x1234) / Raw(CONTENT))
    wrong = right[:38] + b"\1\2" + right[40:]
    made = sendable(wrong)
    assert (made.wrong, made.lengthened) == (True, True)
    assert made.data == right + bytes(18)
    assert ones_sum(made.data[34:-18]) == 0xFFFF


@pytest.mark.parametrize("flags", [0x4000, 0xC000, 0x2001, 0x0007])
def test_other_versions_of_gre_are_left_alone(flags: int) -> None:
    inner = bytes(I4 / UDP(chksum=0x1234) / Raw(CONTENT))
    frame = bytes(
        E
        / IP(src="10.0.0.1", dst="10.0.0.2", proto=47)
        / Raw(struct.pack("!HHI", flags, 0x0800, 0) + inner)
    )
    made = sendable(frame)
    assert (made.wrong, made.lengthened) == (False, True)
    assert made.data == frame + bytes(18)


def test_fragments_of_tunnels_are_left_alone() -> None:
    frame = bytes(E / IP(src="10.0.0.1", dst="10.0.0.2", flags="MF") / GRE() / I4 / UDP(chksum=1))
    assert not sendable(frame).wrong


def test_padding_behind_the_inner_packet_is_not_its_payload() -> None:
    packet = E / O4 / GRE() / E / ARP() / Raw(bytes(18))
    assert sendable(bytes(packet)).lengthened
    inner = I4 / UDP(chksum=1) / Raw(CONTENT)
    made = sendable(bytes(E / O4 / GRE() / E / inner) + b"")
    assert not made.lengthened
    padded = bytearray(bytes(E / O4 / GRE() / E / inner / Raw(bytes(7))))
    inner_at = 14 + 20 + 4 + 14
    padded[inner_at + 2 : inner_at + 4] = (28 + len(CONTENT)).to_bytes(2)
    padded[inner_at + 24 : inner_at + 26] = (8 + len(CONTENT)).to_bytes(2)
    made = sendable(bytes(padded))
    assert (made.wrong, made.lengthened) == (True, True)


def test_udp_over_ipv6_has_a_checksum_but_to_tunnels() -> None:
    right = bytes(E / O6 / UDP(sport=1, dport=9) / Raw(CONTENT))
    captured = bytes(E / O6 / UDP(sport=1, dport=9, chksum=0) / Raw(CONTENT))
    fixed, kept = sendable(captured), sendable(captured, "keep")
    assert (fixed.wrong, kept.wrong) == (True, True)
    assert fixed.data == sendable(right).data
    assert kept.data[60:62] == b"\0\0"
    for port in (4789, 2152, 4790, 6081, 4341, 4754, 6635, 2268):
        frame = bytes(E / O6 / UDP(sport=1, dport=port, chksum=0) / Raw(CONTENT))
        made = sendable(frame)
        assert not made.wrong
        assert made.data[60:62] == b"\0\0"


def test_udp_over_ipv6_whose_sum_is_zero_is_written_as_ones() -> None:
    """RFC 768: zero would be no checksum. The payload's first word makes the sum zero."""
    bare = bytes(E / O6 / UDP(sport=1, dport=9) / Raw(bytes(20)))
    word = bare[60:62]
    frame = bytes(E / O6 / UDP(sport=1, dport=9, chksum=0) / Raw(word + bytes(18)))
    assert sendable(frame).data[60:62] == b"\xff\xff"


@pytest.mark.parametrize("protocol", [4, 47])
def test_tunnels_in_one_another_without_end_are_walked_in_bounds(protocol: int) -> None:
    gre = struct.pack("!HH", 0, 0x0800) if protocol == 47 else b""
    packet = b""
    while len(packet) < 8000:
        size = 20 + len(gre) + len(packet)
        header = struct.pack("!BBHHHBBHII", 0x45, 0, size, 0, 0, 64, protocol, 0, 1, 2)
        packet = header + gre + packet
    frame = bytes(E)[:12] + b"\x08\0" + packet
    headers = captured_headers(frame)
    assert headers.packet_end == len(frame)
    assert len(headers.ipv4_headers) == 17
    made = sendable(frame)
    assert (made.wrong, made.lengthened) == (True, True)


@settings(max_examples=300)
@given(
    st.sampled_from([bytes(_packet(tunnel, "udp4")) for tunnel in TUNNELS]),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=4),
    st.integers(14, 200),
)
def test_any_tunnel_is_walked(frame: bytes, changes: list[tuple[int, int]], length: int) -> None:
    mutated = bytearray(frame)
    for at, value in changes:
        mutated[at % len(mutated)] = value
    before = bytes(mutated[:length])
    made = sendable(before)
    assert made.data[-18:] == bytes(18)
    # What grew may now hold a packet whose end was cut off.
    if captured_headers(made.data) == captured_headers(before):
        assert not sendable(made.data).wrong
