"""Packets written layer by layer, and what they are refused for."""

from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from plimsoll.traffic.frames.field_writers import templates
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream
from tests.unit.traffic.frame_reader import Parsed, parse, written
from tests.worded.says import Says

TUNNELLED = """
[{Ether: {dst: "02:00:00:00:00:aa"}}, {Dot1Q: {vlan: 5}}, {IP: {dst: 10.0.0.9}},
 {UDP: {dport: 4789, sport: 50000, chksum: 0}}, {VXLAN: {vni: 42}}, Ether, IP, UDP]
"""


def _stream(packet: str, **given: Any) -> Stream:
    fields = {"name": "load", "role": "load", "frame_size": 200, "packet": yaml.safe_load(packet)}
    return Stream.model_validate(fields | given)


def _parsed(packet: str, *, reverse: bool = False, **given: Any) -> Parsed:
    return parse(templates(_stream(packet, **given), reverse=reverse).frames[0])


def _refused(packet: str, **given: Any) -> tuple[str, str, tuple[object, ...]]:
    with pytest.raises(ValidationError) as caught:
        _stream(packet, **given)
    (error,) = caught.value.errors()
    context = error["ctx"]
    return error["msg"], context["remedy"], (*error["loc"], *context.get("field", ()))


def test_layers_follow_one_another_and_what_is_left_out_is_the_streams() -> None:
    parsed = _parsed(TUNNELLED)
    assert parsed.macs == [
        ("02:00:00:00:00:01", "02:00:00:00:00:aa"),
        ("02:00:00:00:00:01", "02:00:01:00:00:01"),
    ]
    assert parsed.tags == [(5, 0)]
    assert parsed.ips == [("198.18.0.1", "10.0.0.9"), ("198.18.0.1", "198.19.0.1")]
    assert parsed.ports == [(50000, 4789), (4096, 4097)]
    assert parsed.tunnels == [42]
    assert all(parsed.valid)


def test_the_way_back_swaps_what_is_given_and_keeps_the_tunnels_ports() -> None:
    parsed = _parsed(TUNNELLED, reverse=True)
    assert parsed.macs == [
        ("02:00:00:00:00:aa", "02:00:00:00:00:01"),
        ("02:00:01:00:00:01", "02:00:00:00:00:01"),
    ]
    assert parsed.ips == [("10.0.0.9", "198.18.0.1"), ("198.19.0.1", "198.18.0.1")]
    assert parsed.ports == [(50000, 4789), (4097, 4096)]


def test_groups_stay_destinations_on_the_way_back() -> None:
    packet = '[{Ether: {dst: "01:00:5e:00:00:05"}}, {IP: {dst: 239.0.0.5}}, {UDP: {dport: 7}}]'
    parsed = _parsed(packet, reverse=True)
    assert parsed.macs == [("02:00:01:00:00:01", "01:00:5e:00:00:05")]
    assert parsed.ips == [("198.19.0.1", "239.0.0.5")]
    assert parsed.ports == [(7, 4096)]


def test_the_way_back_may_be_written_as_well() -> None:
    back = yaml.safe_load("[Ether, {IP: {dst: 10.0.0.1}}, {TCP: {flags: SA}}]")
    parsed = _parsed("[Ether, IP, TCP]", reverse=True, reverse_packet=back)
    assert parsed.ips == [("198.19.0.1", "10.0.0.1")]
    assert _parsed("[Ether, IP, TCP]").ips == [("198.18.0.1", "198.19.0.1")]


def test_addresses_of_the_other_ip_version_are_the_defaults() -> None:
    assert _parsed("[Ether, IPv6, UDP]").ips == [("2001:2:0:1::1", "2001:2:0:2::1")]


def test_options_text_bytes_and_names_are_values_too() -> None:
    packet = (
        "[Ether, {IP: {flags: DF, proto: tcp, tos: 0x28}}, "
        "{TCP: {flags: SA, options: [[MSS, 1460], [NOP, null]]}}, {Raw: {load: 0x'}}]"
    ).replace("0x'", '"0x00ff41"')
    (frame,) = templates(_stream(packet), reverse=False).frames
    assert (frame[15], frame[20] >> 5, frame[23]) == (0x28, 0b010, 6)
    assert frame[47] == 0b00010010, "SYN and ACK"
    assert frame[54:60] == bytes.fromhex("020405b40100")
    parsed = parse(frame)
    assert parsed.payload[:3] == b"\x00\xff\x41"
    assert set(parsed.payload[3:]) == {0}
    assert all(parsed.valid)


def test_every_form_of_an_option_is_sent() -> None:
    """Kinds and lengths by IANA's list of TCP options; padded to whole words with zeroes."""
    options = "[2, 1460], [SAckOK, null], [WScale, 7], [Timestamp, [1, 2]], [SAck, [3, 4]]"
    packet = f"[Ether, IP, {{TCP: {{options: [{options}, [254, '0x0102']]}}}}]"
    (frame,) = templates(_stream(packet), reverse=False).frames
    sent = "020405b4 0402 030307 080a0000000100000002 050a0000000300000004 fe040102 000000"
    assert frame[54:90] == bytes.fromhex(sent)


def test_labels_may_follow_a_tag() -> None:
    parsed = _parsed("[Ether, {Dot1Q: {vlan: 3}}, {MPLS: {label: 99, s: 1}}, IP, UDP]")
    assert (parsed.tags, parsed.labels, parsed.ethertypes) == ([(3, 0)], [99], [0x8100, 0x8847])


def test_arp_may_be_answered() -> None:
    parsed = _parsed("[Ether, {ARP: {op: is-at, pdst: 10.0.0.1}}]")
    assert parsed.arp == (
        2,
        "02:00:00:00:00:01",
        "198.18.0.1",
        "02:00:01:00:00:01",
        "10.0.0.1",
    )


def test_inner_fields_may_vary_under_an_outer_checksum_that_they_move_but_once() -> None:
    """A port moves the inner checksum as well, which leaves the outer sum as it is."""
    packet = TUNNELLED.replace(", chksum: 0", "")
    stream = {"name": "load", "role": "load", "frame_size": 200, "direction": "unidirectional"}
    stream |= {"packet": yaml.safe_load(packet), "flows": 999, "vary": ["src_port", "src_mac"]}
    (plan,) = compile_profile(Profile.model_validate({"streams": [stream]}), 1.0, ((0, 1),))
    for number in (0, 1, 998):
        parsed = parse(written(plan, number))
        assert len(parsed.valid) == 4
        assert all(parsed.valid)
        assert parsed.ports[1][0] == 4096 + number


def test_an_outer_checksum_that_depends_on_more_is_named(says: Says) -> None:
    message = _refused(TUNNELLED.replace(", chksum: 0", ""), flows=4)
    assert message == (
        says("UDP.chksum"),
        says("chksum", "0"),
        ("vary", 0),
    )


_LOST_OPTIONS = [
    ("[FOO, 1460]", ("FOO", "TCP.options")),
    ("[256, 1460]", ("TCP.options", "256", "AltChkSum")),
    ("[MSS, x]", ("x", "TCP.options", "MSS", "[MSS, 1460]")),
    ("[MSS, '0x05b4']", ("0x05b4", "TCP.options", "MSS", "[MSS, 1460]")),
    ("[MSS, null]", ("TCP.options", "MSS", "null", "[MSS, 1460]")),
    ("[MSS, 65536]", ("TCP.options", "MSS", "65536")),
    ("[Timestamp, [1]]", ("TCP.options", "Timestamp", "1")),
    ("[NOP, 5]", ("TCP.options", "NOP", "[NOP, null]")),
    ("[254, 7]", ("TCP.options", "254", "7", "0x00ff")),
    ("[254, '0x1']", ("0x1", "TCP.options")),
    ("MSS", ("MSS", "TCP.options", "[name, value]")),
    # More than the 40 bytes that a header has for options.
    (f"[254, {'x' * 60}]", ()),
    ("[MD5, abc]", ("MD5", "abc", "TCP.options")),
]


@pytest.mark.parametrize(
    ("packet", "facts", "where"),
    [
        ("[Ether, IPx, UDP]", ("IPx",), ("packet", 1)),
        ("[Ether, ip]", ("ip",), ("packet", 1)),
        ("[Ether, nosuchlayer]", ("nosuchlayer", "Dot1Q", "IPv6"), ("packet", 1)),
        ("[Ether, SCTP]", ("CRC32c",), ("packet", 1)),
        ("[Ether, {IP: {dts: 1}}]", ("IP.dts",), ("packet", 1)),
        ("[Ether, {IP: {ttl: 256}}]", ("IP.ttl", "256", "8"), ("packet", 1)),
        ("[Ether, {IP: {ttl: -1}}]", ("IP.ttl", "-1"), ("packet", 1)),
        (
            "[Ether, {IP: {ttl: 1.5}}]",
            ("IP.ttl", "1.5"),
            ("packet", 1, "IP", "ttl"),
        ),
        ("[Ether, {IP: {ttl: x}}]", ("x",), ("packet", 1)),
        ("[Ether, {IP: {dst: [10.0.0.1, 10.0.0.2]}}]", ("IP.dst", "IPv4"), ("packet", 1)),
        ("[Ether, {IP: {dst: 10.0.0.0/24}}]", ("IP.dst", "IPv4"), ("packet", 1)),
        ("[Ether, {IP: {dst: localhost}}]", ("IP.dst", "IPv4"), ("packet", 1)),
        ("[Ether, {ARP: {pdst: localhost}}]", ("ARP.pdst", "IPv4"), ("packet", 1)),
        ("[Ether, {IPv6: {dst: fe80::1%lo}}]", ("IPv6.dst", "IPv6"), ("packet", 1)),
        ("[{Ether: {dst: 'ff:ff'}}]", ("Ether.dst", "02:00:00"), ("packet", 0)),
        ("[Ether, {IP: {options: [1]}}]", ("IP.options",), ("packet", 1)),
        (
            "[Ether, IP, {TCP: {flags: SQ}}]",
            ("SQ", "Q", "TCP.flags"),
            ("packet", 2),
        ),
        (
            "[Ether, {IP: {flags: DF+XF}}]",
            ("DF+XF", "IP.flags"),
            ("packet", 1),
        ),
        *(
            (f"[Ether, IP, {{TCP: {{options: [{option}]}}}}]", facts, ("packet", 2))
            for option, facts in _LOST_OPTIONS
        ),
        (
            "[Ether, IP, UDP, {Raw: {load: '0x0ff'}}]",
            ("0x0ff", "Raw.load", "0x00ff"),
            ("packet", 3),
        ),
        (
            "[Ether, IP, UDP, {Raw: {load: '0Xzz'}}]",
            ("0Xzz", "Raw.load"),
            ("packet", 3),
        ),
        # A gateway is in redirects alone.
        (
            "[Ether, IP, {ICMP: {gw: 10.0.0.1}}]",
            ("10.0.0.1",),
            ("packet", 2),
        ),
        # Of 8 bytes.
        (
            "[Ether, {CookedLinux: {src: waytoolong}}]",
            ("waytoolong", "CookedLinux.src"),
            ("packet", 1),
        ),
        ("[Ether, {GTP_U_Header: {seq: 5}}]", ("GTP_U_Header.seq", "5"), ("packet", 1)),
        ("[Ether, {IP: {dst: {a: 1}}}]", ("IP.dst",), ("packet", 1, "IP", "dst")),
        ("[Ether, {IP: 5}]", ("IP", "5}", "{IP", "{dst"), ("packet", 1)),
        (
            "[Ether, {IP: {}, UDP: {}}]",
            ("IP", "UDP", "{IP", "{dst"),
            ("packet", 1),
        ),
        ("[Ether, 7]", ("7",), ("packet", 1)),
        ("[IP, UDP]", (), ("packet", 0)),
        ("[]", ("packet", "1", "32"), ("packet",)),
        ("Ether", ("packet",), ("packet",)),
        # Its CRC comes after all that it wraps, where the signature belongs.
        ("[Ether, MPacketPreamble, Ether]", (), ("packet",)),
    ],
)
def test_what_cannot_be_sent_is_refused(
    packet: str, facts: tuple[str, ...], where: tuple[object, ...], says: Says
) -> None:
    message, what_to_do, place = _refused(packet)
    assert (message, what_to_do) == says(*facts)
    assert what_to_do
    assert "\n" not in message
    assert place == where


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"vlan": 5}, "vlan"),
        ({"mpls": [50]}, "mpls"),
        ({"vxlan": {"vni": 5}}, "vxlan"),
        ({"gtpu": {"teid": 5}}, "gtpu"),
        ({"protocol": "TCP"}, "protocol"),
    ],
)
def test_a_written_packet_is_sent_as_it_stands(
    fields: dict[str, Any], where: str, says: Says
) -> None:
    message, remedy, place = _refused("[Ether, IP, UDP]", **fields)
    assert message == says()
    assert remedy == says()
    assert place == (where,)


def test_a_way_back_needs_a_way_there(says: Says) -> None:
    with pytest.raises(ValidationError) as caught:
        Stream.model_validate({"name": "a", "role": "load", "reverse_packet": ["Ether"]})
    assert caught.value == says()


def test_it_survives_being_written_and_read() -> None:
    packet = "[Ether, {IP: {dst: 10.0.0.9}}, {TCP: {options: [[MSS, 1460], [NOP, null]]}}]"
    stream = _stream(packet, reverse_packet=["Ether", "IP", "UDP"], vary=["IP.dst"], flows=3)
    assert Stream.model_validate(stream.model_dump(mode="json")) == stream


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=6,
)
_FIELDS = (
    "Ether.dst Ether.type IP.dst IP.ttl IP.flags IP.options IP.ihl IP.len TCP.options TCP.flags "
    "UDP.sport Raw.load ARP.psrc ICMP.type Dot1Q.vlan GTP_U_Header.E IPv6.src"
)


@given(st.lists(st.tuples(st.sampled_from(_FIELDS.split()), _anything), min_size=1, max_size=3))
def test_any_value_is_built_or_refused(fields: list[tuple[str, object]]) -> None:
    layers: list[object] = ["Ether"]
    for path, value in fields:
        layer, field = path.split(".")
        layers.append({layer: {field: value}})
    given_fields = {"name": "a", "role": "load", "packet": layers, "frame_size": 256}
    with suppress(ValidationError):
        stream = Stream.model_validate(given_fields)
        assert len(templates(stream, reverse=False).frames[0]) == 252


def test_text_that_is_read_back_as_other_fields_is_sent_all_the_same() -> None:
    """How much of it belongs to the field says a length that is not Scapy's to compute."""
    packet = "[Ether, IP, UDP, {IE_PrivateExtension: {extention_value: quoted}}]"
    (frame,) = templates(_stream(packet), reverse=False).frames
    assert b"quoted" in frame


def test_a_field_that_is_left_out_of_the_layer_is_refused(says: Says) -> None:
    packet = "[Ether, IPv6, {ICMPv6NIReplyUnknown: {nonce: fullsize, data: abc}}]"
    message, remedy, place = _refused(packet)
    assert message == says("abc", "ICMPv6NIReplyUnknown.data")
    assert remedy == says()
    assert place == ("packet", 2)
