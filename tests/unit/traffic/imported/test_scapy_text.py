"""Packets in Scapy's notation: parsed to what Scapy itself would build, and nothing else."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet

from plimsoll.errors import InputError
from plimsoll.traffic.frames.packet import build_packet
from plimsoll.traffic.imported.scapy_text import parse_scapy
from tests.worded.says import Says

A, B = "02:00:00:00:00:01", "02:00:00:00:00:02"
TEXTS: list[tuple[str, Packet]] = [
    (
        f"Ether(src='{A}', dst='{B}')/IP(src='10.2.0.0', dst='10.10.0.15')"
        "/UDP(sport=32768, dport=53)",
        Ether(src=A, dst=B) / IP(src="10.2.0.0", dst="10.10.0.15") / UDP(sport=32768, dport=53),
    ),
    (
        f'Ether(src="{A}", dst="{B}") / IP(src="4.4.4.4", dst="2.2.2.2", ttl=9, tos=0x10)'
        " / TCP(sport=5555, dport=7777, flags='SA', options=[('MSS', 1460), ('NOP', None)])"
        "/'payload-payload'",
        Ether(src=A, dst=B)
        / IP(src="4.4.4.4", dst="2.2.2.2", ttl=9, tos=0x10)
        / TCP(sport=5555, dport=7777, flags="SA", options=[("MSS", 1460), ("NOP", None)])
        / "payload-payload",
    ),
    (
        f"Ether(src='{A}',dst='{B}')/Dot1Q(vlan=7)/IPv6(src='fd00:1::100',dst='fd00:2::100')"
        "/UDP(sport=5000, dport=6000)/b'\\x00\\xff'",
        Ether(src=A, dst=B)
        / Dot1Q(vlan=7)
        / IPv6(src="fd00:1::100", dst="fd00:2::100")
        / UDP(sport=5000, dport=6000)
        / b"\x00\xff",
    ),
    (
        f"Ether(src='{A}', dst='{B}')/IP(src='10.0.0.1', dst='10.1.0.1')"
        "/ICMP(type=8, id=0, seq=0)/'0x'",
        Ether(src=A, dst=B) / IP(src="10.0.0.1", dst="10.1.0.1") / ICMP(type=8, id=0, seq=0) / "0x",
    ),
]


@pytest.mark.parametrize(("text", "packet"), TEXTS)
def test_the_bytes_are_those_that_scapy_makes(text: str, packet: Packet) -> None:
    assert bytes(build_packet(parse_scapy(f"scapy:{text}"))) == bytes(packet)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Ether()/IP()", ()),
        ("scapy:", ()),
        ("scapy:Ether()/", ()),
        ("scapy:Ether()\0", ()),
        ("scapy:" + "(" * 3000, ()),
        ("scapy:" + "Ether()/" * 600, ()),
        ("scapy:" + "/".join(["Ether()"] * 33), ("33",)),
        ("scapy:Ether()/IP", ()),
        ("scapy:Ether()*IP()", ()),
        ("scapy:Ether()/(IP()/UDP())", ()),
        ("scapy:Ether()/7", ("7",)),
        ("scapy:IP()/UDP()", ()),
        ("scapy:Ether()/'x'/IP()", ()),
        ("scapy:Ether(b'x')", ()),
        ("scapy:Ether(**{'src': 'x'})", ()),
        ("scapy:__import__('os').system('true')/Ether()", ()),
        ("scapy:Ether()/exit()", ("exit",)),
        ("scapy:Ether()/IP(dst=exit())", ()),
        ("scapy:Ether()/IP(dst=RandIP())", ("RandIP()",)),
        ("scapy:Ether()/IP(ttl=1.5)", ("1.5",)),
        ("scapy:Ether()/IP(dst='localhost')", ("localhost", "IP.dst")),
        ("scapy:Ether()/IP(ttl=256)", ("256",)),
        ("scapy:Ether()/IP(dts='1.2.3.4')", ("dts",)),
        ("scapy:Ether()/SCTP()", ("SCTP",)),
    ],
)
def test_everything_else_is_refused(text: str, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_scapy(text)
    assert caught.value == says(*facts)
    assert caught.value.remedy


@given(st.text(max_size=300))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with suppress(InputError):
        parse_scapy(f"scapy:{text}")


_calls = st.sampled_from(
    ["Ether()", "IP()", "UDP(sport=1)", "'x'", "b'y'", "[1]", "f()", "{}", "-1", "a.b"]
)


@given(st.lists(_calls, min_size=1, max_size=8))
def test_any_parts_are_parsed_or_refused(parts: list[str]) -> None:
    with suppress(InputError):
        parse_scapy("scapy:" + "/".join(parts))
