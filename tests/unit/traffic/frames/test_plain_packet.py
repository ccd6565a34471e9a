"""Frames of plain streams, taken apart by hand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from plimsoll.traffic.frames.field_writers import templates
from plimsoll.traffic.streams.stream import Stream
from tests.unit.traffic.frame_reader import Parsed, ones_sum, parse, signed
from tests.worded.says import Says

V6 = {"src_ip": "2001:2::1"}
# What is sent, and the least frame that holds it: headers, 18 bytes of signature, 4 of FCS.
FORMS: list[tuple[dict[str, Any], int]] = [
    ({}, 14 + 20 + 8 + 22),
    ({"protocol": "TCP"}, 14 + 20 + 20 + 22),
    ({"protocol": "ICMP"}, 14 + 20 + 8 + 22),
    (V6, 14 + 40 + 8 + 22),
    (V6 | {"protocol": "TCP"}, 14 + 40 + 20 + 22),
    (V6 | {"protocol": "ICMP"}, 14 + 40 + 8 + 22),
    ({"vlan": 100}, 64 + 4),
    ({"vlan": [200, {"id": 100, "priority": 5}]}, 64 + 8),
    ({"mpls": [100, 200, 300]}, 64 + 12),
    (V6 | {"vlan": 7, "mpls": [1000]}, 84 + 8),
    ({"vxlan": {"vni": 42}}, 64 + 14 + 20 + 8 + 8),
    (V6 | {"vxlan": {"vni": 42, "src_ip": "2001:2::a", "dst_ip": "2001:2::b"}}, 84 + 70),
    ({"vxlan": {"vni": 42}, "vlan": 9, "protocol": "TCP"}, 76 + 50 + 4),
    ({"gtpu": {"teid": 7}}, 64 + 20 + 8 + 8),
    ({"gtpu": {"teid": 7}, "protocol": "ICMP", "mpls": [99]}, 64 + 36 + 4),
    ({"protocol": "ARP"}, 14 + 28 + 22),
    ({"protocol": "GARP"}, 14 + 28 + 22),
    ({"protocol": "ARP", "vlan": 5}, 68),
]
_forms = st.sampled_from(FORMS)


def _stream(**given: Any) -> Stream:
    return Stream.model_validate({"name": "load", "role": "load"} | given)


def _frames(*, reverse: bool = False, **given: Any) -> tuple[bytes, ...]:
    return templates(_stream(**given), reverse=reverse).frames


def _parsed(*, reverse: bool = False, **given: Any) -> Parsed:
    return parse(_frames(reverse=reverse, **given)[0])


@given(_forms, st.integers(0, 200), st.booleans(), st.binary(min_size=16, max_size=16))
def test_every_frame_is_valid_before_and_after_it_is_signed(
    form: tuple[dict[str, Any], int], more: int, reverse: bool, content: bytes
) -> None:
    """At odd offsets too."""
    given_fields, least = form
    for frame in _frames(reverse=reverse, frame_size=least + more, **given_fields):
        assert len(frame) == least + more - 4
        for each in (frame, signed(frame, content)):
            parsed = parse(each)
            assert all(parsed.valid)
            assert len(parsed.payload) == 18 + more


@pytest.mark.parametrize(("form", "least"), FORMS, ids=str)
def test_a_frame_that_is_too_small_names_stream_and_least_size(
    form: dict[str, Any], least: int, says: Says
) -> None:
    problem = f"{least - 1} bytes are too few for the headers, signature and FCS of probe"
    with pytest.raises(ValidationError, match=problem) as caught:
        _stream(name="probe", role="latency", rate="1kpps", frame_size=least - 1, **form)
    (error,) = caught.value.errors()
    assert f"{error['ctx']['remedy']}," == says(str(least), "bytes")
    assert error["ctx"]["field"] == ("frame_size",)


@pytest.mark.parametrize(("form", "least"), FORMS, ids=str)
def test_a_load_has_a_short_signature_where_a_full_one_has_no_room(
    form: dict[str, Any], least: int, says: Says
) -> None:
    short = max(64, least - 6)
    stream = _stream(frame_size=short, **form)
    assert stream.signature_bytes == (18 if short == least else 12)
    for frame in templates(stream, reverse=False).frames:
        assert len(frame) == short - 4
        assert frame.endswith(bytes(stream.signature_bytes))
    with pytest.raises(ValidationError) as caught:
        _stream(frame_size=short - 1, **form)
    assert caught.value == says(str(short - 1))


@pytest.mark.parametrize(("size", "signature"), [(40, 18), (46, 18), (47, 12), (52, 12)])
def test_below_64_bytes_the_packet_is_as_short_and_the_signature_in_its_padding(
    size: int, signature: int
) -> None:
    stream = _stream(frame_size=size)
    assert stream.signature_bytes == signature
    assert (stream.mean_frame_size, stream.largest_frame_size) == (64, 64)
    (frame,) = templates(stream, reverse=False).frames
    packet_bytes = max(42, size - 4)
    assert len(frame) == 60
    assert int.from_bytes(frame[16:18]) == packet_bytes - 14
    assert parse(frame[:packet_bytes]).valid
    assert frame[packet_bytes:] == bytes(60 - packet_bytes)


@pytest.mark.parametrize("given", [{"frame_size": 39}, {"frame_size": 53}, {"imix": "40x1"}])
def test_between_padded_and_whole_packets_there_is_no_room(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        _stream(**given)


def test_udp_is_between_rfc_2544s_addresses() -> None:
    parsed = _parsed()
    assert parsed.macs == [("02:00:00:00:00:01", "02:00:01:00:00:01")]
    assert (parsed.ips, parsed.ports, parsed.ttls) == (
        [("198.18.0.1", "198.19.0.1")],
        [(4096, 4097)],
        [64],
    )


def test_the_frame_is_byte_for_byte_what_it_always_was() -> None:
    """The frame of docs/engine-protocol.md but for addresses and ports; sums by hand."""
    (frame,) = _frames()
    assert frame.hex() == (
        "020001000001" "020000000001" "0800"
        "4500002e0000400040" "11" "ae97" "c6120001" "c6130001"
        "1000" "1001" "001a" "5391" + "00" * 18
    )  # fmt: skip


def test_the_reverse_direction_swaps_the_ends() -> None:
    parsed = _parsed(reverse=True, protocol="TCP", frame_size=76)
    assert parsed.macs == [("02:00:01:00:00:01", "02:00:00:00:00:01")]
    assert parsed.ips == [("198.19.0.1", "198.18.0.1")]
    assert parsed.ports == [(4097, 4096)]


def test_ipv6_defaults_are_rfc_5180s() -> None:
    parsed = _parsed(src_ip="2001:2::5", frame_size=84)
    assert parsed.ips == [("2001:2::5", "2001:2:0:2::1")]


def test_two_tags_are_qinq_the_outer_one_first() -> None:
    parsed = _parsed(vlan=[200, {"id": 100, "priority": 5}], frame_size=72)
    assert parsed.tags == [(200, 0), (100, 5)]
    assert parsed.ethertypes == [0x88A8, 0x8100, 0x0800]


def test_labels_are_a_stack() -> None:
    parsed = _parsed(mpls=[100, 200], vlan=3, frame_size=128)
    assert (parsed.tags, parsed.labels, parsed.ethertypes) == (
        [(3, 0)],
        [100, 200],
        [0x8100, 0x8847],
    )


def test_vxlan_carries_the_streams_own_ends() -> None:
    for reverse in (False, True):
        parsed = _parsed(reverse=reverse, vxlan={"vni": 42}, frame_size=128)
        assert parsed.tunnels == [42]
        macs = [("02:00:02:00:00:01", "02:00:03:00:00:01")]
        macs += [("02:00:00:00:00:01", "02:00:01:00:00:01")]
        ips = [("10.0.0.1", "10.1.0.1"), ("198.18.0.1", "198.19.0.1")]
        turn = -1 if reverse else 1
        assert parsed.macs == [ends[::turn] for ends in macs]
        assert parsed.ips == [ends[::turn] for ends in ips]
        # The tunnel's own ports stay: they say what it is.
        assert parsed.ports == [(49152, 4789), (4096, 4097)[::turn]]


def test_gtpu_carries_an_ip_packet() -> None:
    tunnel = {"teid": 0x12345678, "src_ip": "10.9.0.1", "dst_ip": "10.9.0.2"}
    parsed = _parsed(gtpu=tunnel, frame_size=128)
    assert parsed.tunnels == [0x12345678]
    assert len(parsed.macs) == 1
    assert parsed.ips == [("10.9.0.1", "10.9.0.2"), ("198.18.0.1", "198.19.0.1")]
    assert parsed.ports == [(2152, 2152), (4096, 4097)]


def test_arp_asks_for_the_destination() -> None:
    parsed = _parsed(protocol="ARP")
    assert parsed.macs == [("02:00:00:00:00:01", "ff:ff:ff:ff:ff:ff")]
    unknown = "00:00:00:00:00:00"
    assert parsed.arp == (1, "02:00:00:00:00:01", "198.18.0.1", unknown, "198.19.0.1")


def test_gratuitous_arp_takes_turns_between_requests_and_replies() -> None:
    frames = _frames(protocol="GARP", reverse=True)
    everybody = "ff:ff:ff:ff:ff:ff"
    assert [parse(frame).arp for frame in frames] == [
        (kind, "02:00:01:00:00:01", "198.19.0.1", everybody, "198.19.0.1") for kind in (1, 2)
    ]


def test_echo_requests_are_icmps_or_icmpv6s() -> None:
    assert _parsed(protocol="ICMP").protocols == [1]
    assert _frames(protocol="ICMP")[0][34] == 8
    assert _parsed(protocol="ICMP", src_ip="2001:2::1", frame_size=84).protocols == [58]
    assert _frames(protocol="ICMP", src_ip="2001:2::1", frame_size=84)[0][54] == 128


def test_tcp_opens_connections() -> None:
    (frame,) = _frames(protocol="TCP", frame_size=76)
    assert frame[47] == 0x02, "SYN alone"


def test_a_udp_checksum_of_zero_is_sent_as_all_ones() -> None:
    (plain,) = _frames(src_port=0)
    # A source port that makes up for the rest of the sum.
    (frame,) = _frames(src_port=int.from_bytes(plain[40:42]))
    assert frame[40:42] == b"\xff\xff"
    assert ones_sum(frame[26:34] + b"\0\x11\0\x1a" + frame[34:]) == 0xFFFF


@pytest.mark.parametrize(
    ("fields", "facts", "where"),
    [
        ({"src_ip": "2001:2::1", "protocol": "ARP"}, ("IPv4",), ("protocol",)),
        ({"gtpu": {"teid": 1}, "protocol": "ARP"}, ("ARP",), ("protocol",)),
        ({"gtpu": {"teid": 1}, "vxlan": {"vni": 1}}, ("vxlan",), ("gtpu",)),
        ({"src_ip": "2001:2::1", "dst_ip": "10.0.0.1"}, ("2001:2::1", "10.0.0.1"), ("dst_ip",)),
        ({"prefix": 31}, ("31",), ("prefix",)),
        ({"src_ip": "2001:2::1", "prefix": 127}, ("127",), ("prefix",)),
    ],
)
def test_what_does_not_go_together_is_refused(
    fields: dict[str, Any], facts: tuple[str, ...], where: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        _stream(frame_size=200, **fields)
    assert caught.value == says(*facts)
    (error,) = caught.value.errors()
    assert error["ctx"]["field"] == where
    assert error["ctx"]["remedy"]


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"vlan": 4095}, "vlan"),
        ({"vlan": [1, 2, 3]}, "vlan"),
        ({"mpls": [15]}, "mpls"),
        ({"mpls": [2**20]}, "mpls"),
        ({"vxlan": {"vni": 2**24}}, "vxlan"),
        ({"vxlan": {}}, "vxlan"),
        ({"vxlan": {"vni": 1, "src_ip": "2001:2::1"}}, "vxlan"),
        ({"gtpu": {"teid": 2**32}}, "gtpu"),
        ({"gtpu": {"teid": 1, "src_ip": "host"}}, "gtpu"),
        ({"src_ip": "fe80::1%eth0"}, "src_ip"),
        ({"src_ip": "localhost"}, "src_ip"),
        ({"protocol": "SCTP"}, "protocol"),
    ],
)
def test_values_that_no_header_takes_are_refused(fields: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _stream(frame_size=200, **fields)
    assert {error["loc"][0] for error in caught.value.errors()} == {where}
