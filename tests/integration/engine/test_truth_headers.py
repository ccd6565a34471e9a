"""A DUT that puts headers on, takes them off and rewrites them: every frame is found again."""

from collections.abc import Iterator
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

from tests.integration.engine.delay_dut import path
from tests.integration.engine.frames import SIGNATURE_BYTES, udp_frame
from tests.integration.engine.requests import stream
from tests.integration.engine.truth_bed import TruthBed, assert_ports, assert_stream, truth_bed

TO, FROM = "02:00:00:00:00:01", "02:00:00:00:00:02"
SIGNATURE = Raw(bytes(SIGNATURE_BYTES))
SENT = 500


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TruthBed]:
    with truth_bed(tmp_path_factory.mktemp("truth")) as bed:
        yield bed


def headers(*tags: Packet) -> Packet:
    packet = Ether(dst=TO, src=FROM)
    for tag in tags:
        packet /= tag
    return packet / IP(src="198.18.0.1", dst="198.19.0.1") / UDP(sport=49184, dport=49185)


def tunnel(inner: bytes | Packet) -> Packet:
    outer = IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=49200, dport=4789, chksum=0)
    return Ether(dst=TO, src=FROM) / outer / VXLAN(vni=42) / inner


TAG, OUTER_TAG = Dot1Q(vlan=100), Dot1AD(vlan=200)
PLAIN = udp_frame(60)
TAGGED, DOUBLY_TAGGED = bytes(headers(TAG) / SIGNATURE), bytes(headers(OUTER_TAG, TAG) / SIGNATURE)
TUNNELLED = bytes(tunnel(PLAIN))
# A tunnelled frame of Ethernet header and signature alone: out of it, 28 bytes are padding.
SHORT_TUNNELLED = bytes(tunnel(Ether(dst=TO, src=FROM, type=0x88B5) / SIGNATURE))

ADD_TAG = {"at": 12, "insert": TAGGED[12:16].hex()}
NAT = [
    {"at": 0, "write": "0200000000aa0200000000bb"},
    {"at": 22, "write": "3f11", "fixes": [24]},
    {"at": 26, "write": "cb007109", "fixes": [24, 40]},
    {"at": 34, "write": "9c40", "fixes": [40]},
]

REWRITES: dict[str, tuple[bytes, list[dict[str, Any]]]] = {
    "a tag put on": (PLAIN, [ADD_TAG]),
    "two tags put on": (PLAIN, [ADD_TAG, ADD_TAG]),
    "a tag taken off": (TAGGED, [{"at": 12, "remove": 4}]),
    "both tags taken off": (DOUBLY_TAGGED, [{"at": 12, "remove": 8}]),
    "the outer tag taken off": (DOUBLY_TAGGED, [{"at": 12, "remove": 4}]),
    "into a tunnel": (PLAIN, [{"at": 0, "insert": TUNNELLED[:50].hex()}]),
    "out of a tunnel": (TUNNELLED, [{"at": 0, "remove": 50}]),
    "out of a tunnel, padded": (SHORT_TUNNELLED, [{"at": 0, "remove": 50}]),
    "NAT, TTL and new addresses": (PLAIN, NAT),
    "NAT and a tag": (PLAIN, [*NAT, ADD_TAG]),
    "a long frame": (udp_frame(1510), [*NAT, ADD_TAG]),
}


def find_all(bed: TruthBed, frame: bytes, rewrites: list[dict[str, Any]], **changes: Any) -> None:
    """Loss and doubles are counted right besides: each frame is found, and none is guessed."""
    wrongs = [{"do": "drop", "every": 10}, {"do": "duplicate", "every": 7}]
    behaviour = path(0, 1, rewrites=rewrites, wrongs=wrongs, **changes)
    requests = [
        stream(0, 4000, rx_port=1, frames=[frame.hex()]),
        stream(1, 1000, role="latency", rx_port=1, frames=[frame.hex()]),
    ]
    truth = bed.run(*requests, paths=[behaviour])
    for request, sent in zip(requests, (400, 100), strict=True):
        assert_stream(truth, request, sent)
    assert_ports(truth)


@pytest.mark.parametrize("name", REWRITES)
def test_headers_that_a_dut_puts_on_takes_off_and_changes(bed: TruthBed, name: str) -> None:
    find_all(bed, *REWRITES[name])


@pytest.mark.parametrize(
    "padding", [0xA5, *(pytest.param(each, marks=pytest.mark.full) for each in (0, 0xFF))]
)
@pytest.mark.parametrize("removed", [1, 4, 8, 17, 28, 42])
def test_padding_behind_the_signature(bed: TruthBed, removed: int, padding: int) -> None:
    """A frame of 60 bytes from which so many are taken is filled up to 60 again."""
    find_all(bed, PLAIN, [{"at": 0, "remove": removed}], padding=padding)
