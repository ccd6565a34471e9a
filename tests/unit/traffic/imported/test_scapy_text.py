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
    ("text", "problem"),
    [
        ("Ether()/IP()", "does not begin with scapy:"),
        ("scapy:", "is not Scapy's notation"),
        ("scapy:Ether()/", "is not Scapy's notation"),
        ("scapy:Ether()\0", "is not Scapy's notation"),
        ("scapy:" + "(" * 3000, "is not Scapy's notation"),
        ("scapy:" + "Ether()/" * 600, "characters are more"),
        ("scapy:" + "/".join(["Ether()"] * 33), "33 layers are too many"),
        ("scapy:Ether()/IP", "IP is neither a layer nor a payload"),
        ("scapy:Ether()*IP()", "is neither a layer nor a payload"),
        ("scapy:Ether()/(IP()/UDP())", "is neither a layer nor a payload"),
        ("scapy:Ether()/7", "7 is neither a layer nor a payload"),
        ("scapy:IP()/UDP()", "the first layer is IP"),
        ("scapy:Ether()/'x'/IP()", "a payload is followed by a layer"),
        ("scapy:Ether(b'x')", "an argument without a name"),
        ("scapy:Ether(**{'src': 'x'})", "arguments without names"),
        ("scapy:__import__('os').system('true')/Ether()", "neither a layer nor a payload"),
        ("scapy:Ether()/exit()", "unknown layer 'exit'"),
        ("scapy:Ether()/IP(dst=exit())", "exit() is not a constant"),
        ("scapy:Ether()/IP(dst=RandIP())", "RandIP() is not a constant"),
        ("scapy:Ether()/IP(ttl=1.5)", "1.5 is not a number, text or bytes"),
        ("scapy:Ether()/IP(dst='localhost')", "IP.dst: found 'localhost'"),
        ("scapy:Ether()/IP(ttl=256)", "256 does not fit"),
        ("scapy:Ether()/IP(dts='1.2.3.4')", "unknown field 'dts'"),
        ("scapy:Ether()/SCTP()", "SCTP cannot be sent"),
    ],
)
def test_everything_else_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_scapy(text)
    assert problem in caught.value.message
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
