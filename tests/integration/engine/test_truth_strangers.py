"""A DUT's own talk among our frames: counted by kind, never as loss or damage."""

from collections.abc import Iterator
from struct import pack

import pytest
from scapy.contrib.lacp import LACP, SlowProtocol
from scapy.contrib.lldp import (
    LLDPDUChassisID,
    LLDPDUEndOfLLDPDU,
    LLDPDUPortID,
    LLDPDUTimeToLive,
)
from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import ICMPv6ND_NS, IPv6
from scapy.layers.l2 import ARP, LLC, STP, Dot1Q, Dot3, Ether
from scapy.packet import Packet, Raw

from tests.integration.engine.delay_dut import path
from tests.integration.engine.requests import stream
from tests.integration.engine.truth_bed import TruthBed, assert_stream, truth_bed

SENT, EVERY = 1000, 20
HERE, THERE = "02:00:00:00:00:0a", "02:00:00:00:00:0b"


def ether(destination: str, kind: int | None = None) -> Packet:
    return (
        Ether(dst=destination, src=HERE)
        if kind is None
        else Ether(dst=destination, src=HERE, type=kind)
    )


LLDP = (
    ether("01:80:c2:00:00:0e", 0x88CC)
    / LLDPDUChassisID(subtype=4, id=b"\x02\0\0\0\0\x0a")
    / LLDPDUPortID(subtype=5, id=b"eth0")
    / LLDPDUTimeToLive(ttl=120)
    / LLDPDUEndOfLLDPDU()
)
PING = IP(src="192.0.2.1", dst="192.0.2.2") / ICMP()
SOLICITATION = IPv6(src="fe80::1", dst="ff02::1") / ICMPv6ND_NS(tgt="fe80::2")
# What the protocol calls each kind, and a frame of it.
STRANGERS = [
    ("arp", ether("ff:ff:ff:ff:ff:ff") / ARP(psrc="192.0.2.1", pdst="192.0.2.2")),
    ("arp", ether("ff:ff:ff:ff:ff:ff") / Dot1Q(vlan=7) / ARP(psrc="192.0.2.1", pdst="192.0.2.2")),
    ("lldp", LLDP),
    ("stp", Dot3(dst="01:80:c2:00:00:00", src=HERE) / LLC(dsap=0x42, ssap=0x42, ctrl=3) / STP()),
    ("slow_protocols", ether("01:80:c2:00:00:02") / SlowProtocol(subtype=1) / LACP()),
    # IEEE 802.3 annex 31B: opcode 1, then how long to pause.
    ("flow_control", ether("01:80:c2:00:00:01", 0x8808) / Raw(pack(">HH", 1, 0xFFFF) + bytes(42))),
    # IEEE 1588 annex F: a Sync message of version 2.
    ("ptp", ether("01:1b:19:00:00:00", 0x88F7) / Raw(bytes([0, 2, 0, 44]) + bytes(40))),
    ("ipv4", ether(THERE) / PING),
    ("ipv4", ether(THERE) / Dot1Q(vlan=7) / PING),
    ("ipv6", ether("33:33:00:00:00:01") / SOLICITATION),
    ("other", ether(THERE, 0x88B5) / Raw(bytes(46))),
    ("runt", Raw(b"\xff" * 9)),
]


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TruthBed]:
    with truth_bed(tmp_path_factory.mktemp("truth")) as bed:
        yield bed


def inject(frame: Packet, every: int = EVERY) -> dict[str, object]:
    return {"do": "inject", "every": every, "frame": bytes(frame).hex()}


def padded(frame: Packet) -> Packet:
    return Raw(bytes(frame).ljust(60, b"\0"))


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "frame"),
    [*STRANGERS, *((kind, padded(frame)) for kind, frame in STRANGERS if kind != "runt")],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)}",
)
def test_each_kind_by_itself(bed: TruthBed, kind: str, frame: Packet) -> None:
    request = stream(0, 10_000, rx_port=1)
    truth = bed.run(request, paths=[path(0, 1, wrongs=[inject(frame)])])
    assert_stream(truth, request, SENT)
    near, far = truth.reply["ports"]
    kinds = {name: count for name, count in far["foreign_kinds"].items() if count}
    assert kinds == {kind: SENT // EVERY}
    assert (far["foreign"], far["stale"], near["foreign"]) == (SENT // EVERY, 0, 0)


def test_all_of_them_among_losses_and_in_both_directions(bed: TruthBed) -> None:
    every = {index: 10 + index for index in range(len(STRANGERS))}
    wrongs = [inject(frame, every[index]) for index, (_, frame) in enumerate(STRANGERS)]
    requests = [
        stream(0, 10_000, rx_port=1),
        stream(1, 10_000, role="latency", tx_port=1, rx_port=0),
    ]
    drop = {"do": "drop", "every": 7}
    paths = [path(0, 1, wrongs=[*wrongs, drop]), path(1, 0, wrongs=[drop, *wrongs])]
    truth = bed.run(*requests, paths=paths)
    expected: dict[str, int] = {}
    for index, (kind, _) in enumerate(STRANGERS):
        expected[kind] = expected.get(kind, 0) + SENT // every[index]
    for request in requests:
        assert_stream(truth, request, SENT)
    for port in truth.reply["ports"]:
        assert port["foreign_kinds"] == expected
        assert port["foreign"] == sum(expected.values())


def test_the_names_are_all_there_when_no_other_talks(bed: TruthBed) -> None:
    truth = bed.run(stream(0, 1000, rx_port=1), paths=[path(0, 1)])
    for port in truth.reply["ports"]:
        assert port["foreign_kinds"] == dict.fromkeys({kind for kind, _ in STRANGERS}, 0)
