"""Template frames, held against Scapy."""

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from plimsoll.traffic.frames import MIN_FRAME_SIZE, Endpoint, udp_frame

_endpoints = st.builds(
    Endpoint,
    mac=st.binary(min_size=6, max_size=6),
    ip=st.integers(0, 2**32 - 1).map(IPv4Address),
    port=st.integers(0, 65535),
)


def _by_scapy(source: Endpoint, destination: Endpoint, frame_size: int) -> bytes:
    payload = bytes(frame_size - 4 - 42)
    return bytes(
        Ether(src=source.mac.hex(":"), dst=destination.mac.hex(":"), type=0x0800)
        / IP(src=str(source.ip), dst=str(destination.ip), id=0, flags="DF", ttl=64)
        / UDP(sport=source.port, dport=destination.port)
        / payload
    )


@given(_endpoints, _endpoints, st.integers(64, 1518))
def test_a_frame_is_what_scapy_builds(
    source: Endpoint, destination: Endpoint, frame_size: int
) -> None:
    frame = udp_frame(source, destination, frame_size)
    assert frame == _by_scapy(source, destination, frame_size)
    assert len(frame) == frame_size - 4


@given(_endpoints, _endpoints, st.integers(64, 300), st.binary(min_size=16, max_size=16))
def test_the_checksum_stays_valid_once_signed(
    source: Endpoint, destination: Endpoint, frame_size: int, content: bytes
) -> None:
    """Any 18 bytes whose 16-bit words sum to 0xffff may take the place of the zeroes."""
    total = sum(int.from_bytes(content[at : at + 2]) for at in range(0, 16, 2))
    complement = 0xFFFF - (total % 0xFFFF)
    signature = content + complement.to_bytes(2)
    signed = udp_frame(source, destination, frame_size)[:-18] + signature
    expected = Ether(signed)
    given_checksum = expected[UDP].chksum
    del expected[UDP].chksum
    assert Ether(bytes(expected))[UDP].chksum == given_checksum


def test_the_smallest_frame_is_ethernets_own_minimum() -> None:
    assert MIN_FRAME_SIZE == 64


def test_a_udp_checksum_of_zero_is_sent_as_all_ones() -> None:
    source = Endpoint(bytes(6), IPv4Address("198.18.0.1"), 0)
    destination = Endpoint(bytes(6), IPv4Address("198.19.0.1"), 4097)
    plain = int.from_bytes(udp_frame(source, destination, 64)[40:42])
    # A source port that makes up for the rest of the sum.
    nought = Endpoint(bytes(6), source.ip, plain)
    frame = udp_frame(nought, destination, 64)
    assert frame[40:42] == b"\xff\xff"
    assert frame == _by_scapy(nought, destination, 64)


@pytest.mark.parametrize("frame_size", [64, 65, 9218])
def test_lengths_are_stated_in_both_headers(frame_size: int) -> None:
    end = Endpoint(bytes(6), IPv4Address("198.18.0.1"), 1)
    parsed = Ether(udp_frame(end, end, frame_size))
    assert parsed[IP].len == frame_size - 18
    assert parsed[UDP].len == frame_size - 38
