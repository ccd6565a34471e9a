"""Packets written layer by layer, and what they are refused for."""

from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from plimsoll.traffic.frames.templates import templates
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream
from tests.unit.traffic.frame_reader import Parsed, parse, written

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


def test_an_outer_checksum_that_depends_on_more_is_named() -> None:
    message = _refused(TUNNELLED.replace(", chksum: 0", ""), flows=4)
    assert message == (
        "dst is covered by an outer checksum, UDP.chksum, in more than one way",
        "give the outer UDP chksum: 0",
        ("vary", 0),
    )


_LOST_OPTIONS = [
    ("[FOO, 1460]", "TCP.options: unknown option 'FOO'", "did you mean TFO?"),
    ("[256, 1460]", "TCP.options: unknown option 256", "use one of AO, AltChkSum"),
    ("[MSS, x]", "TCP.options: MSS cannot be 'x'", "[MSS, 1460]"),
    ("[MSS, '0x05b4']", "TCP.options: MSS cannot be '0x05b4'", "[MSS, 1460]"),
    ("[MSS, null]", "TCP.options: MSS cannot be null", "[MSS, 1460]"),
    ("[MSS, 65536]", "TCP.options: MSS cannot be 65536", "as large as the option holds"),
    ("[Timestamp, [1]]", "TCP.options: Timestamp cannot be (1,)", "and as many"),
    ("[NOP, 5]", "TCP.options: NOP has no value", "write [NOP, null]"),
    ("[254, 7]", "TCP.options: 254 cannot be 7", "give text, bytes such as 0x00ff, or null"),
    ("[254, '0x1']", "TCP.options: '0x1' is not whole bytes", "two digits a byte"),
    ("MSS", "TCP.options: found 'MSS'", "write a list of [name, value]"),
    # More than the 40 bytes that a header has for options.
    (f"[254, {'x' * 60}]", "does not fit, or the field is not", "give a smaller value"),
    ("[MD5, abc]", "TCP.options: (('MD5', 'abc'),) does not fit", "give a smaller value"),
]


@pytest.mark.parametrize(
    ("packet", "problem", "remedy", "where"),
    [
        ("[Ether, IPx, UDP]", "unknown layer 'IPx'", "did you mean IP", ("packet", 1)),
        ("[Ether, ip]", "unknown layer 'ip'", "did you mean IP?", ("packet", 1)),
        ("[Ether, nosuchlayer]", "unknown layer", "Scapy's names, such as", ("packet", 1)),
        ("[Ether, SCTP]", "CRC32c", "use UDP or TCP", ("packet", 1)),
        ("[Ether, {IP: {dts: 1}}]", "IP.dts: unknown field", "did you mean", ("packet", 1)),
        ("[Ether, {IP: {ttl: 256}}]", "IP.ttl: 256 does not fit into 8", "smaller", ("packet", 1)),
        ("[Ether, {IP: {ttl: -1}}]", "IP.ttl: found -1", "a whole number", ("packet", 1)),
        (
            "[Ether, {IP: {ttl: 1.5}}]",
            "IP.ttl: found 1.5",
            "a whole number",
            ("packet", 1, "IP", "ttl"),
        ),
        ("[Ether, {IP: {ttl: x}}]", "'x' is not a name", "", ("packet", 1)),
        ("[Ether, {IP: {dst: [10.0.0.1, 10.0.0.2]}}]", "IP.dst: found", "an IPv4", ("packet", 1)),
        ("[Ether, {IP: {dst: 10.0.0.0/24}}]", "IP.dst: found", "an IPv4 address", ("packet", 1)),
        ("[Ether, {IP: {dst: localhost}}]", "IP.dst: found", "an IPv4 address", ("packet", 1)),
        ("[Ether, {ARP: {pdst: localhost}}]", "ARP.pdst: found", "an IPv4", ("packet", 1)),
        ("[Ether, {IPv6: {dst: fe80::1%lo}}]", "IPv6.dst: found", "an IPv6", ("packet", 1)),
        ("[{Ether: {dst: 'ff:ff'}}]", "Ether.dst: found", "02:00:00", ("packet", 0)),
        ("[Ether, {IP: {options: [1]}}]", "cannot be written as a plain", "", ("packet", 1)),
        (
            "[Ether, IP, {TCP: {flags: SQ}}]",
            "TCP.flags: 'SQ' has the unknown flag 'Q'",
            "use those of F, S, R, P, A, U, E, C, N",
            ("packet", 2),
        ),
        (
            "[Ether, {IP: {flags: DF+XF}}]",
            "IP.flags: 'DF+XF' has the unknown flag 'XF'",
            "use those of MF, DF, evil, with + between them",
            ("packet", 1),
        ),
        *(
            (f"[Ether, IP, {{TCP: {{options: [{option}]}}}}]", message, remedy, ("packet", 2))
            for option, message, remedy in _LOST_OPTIONS
        ),
        (
            "[Ether, IP, UDP, {Raw: {load: '0x0ff'}}]",
            "Raw.load: '0x0ff' is not whole bytes of hexadecimal",
            "write two digits a byte, such as 0x00ff",
            ("packet", 3),
        ),
        (
            "[Ether, IP, UDP, {Raw: {load: '0Xzz'}}]",
            "Raw.load: '0Xzz' is not whole bytes of hexadecimal",
            "write two digits a byte",
            ("packet", 3),
        ),
        # A gateway is in redirects alone.
        (
            "[Ether, IP, {ICMP: {gw: 10.0.0.1}}]",
            "'10.0.0.1' does not fit, or the",
            "flags",
            ("packet", 2),
        ),
        # Of 8 bytes.
        (
            "[Ether, {CookedLinux: {src: waytoolong}}]",
            "CookedLinux.src: 'waytoolong' does not fit",
            "a smaller value",
            ("packet", 1),
        ),
        ("[Ether, {GTP_U_Header: {seq: 5}}]", "is not in this frame", "flags", ("packet", 1)),
        ("[Ether, {IP: {dst: {a: 1}}}]", "IP.dst: found", "write text", ("packet", 1, "IP", "dst")),
        ("[Ether, {IP: 5}]", "is not a valid layer", "write a layer's name", ("packet", 1)),
        (
            "[Ether, {IP: {}, UDP: {}}]",
            "is not a valid layer",
            "write a layer's name",
            ("packet", 1),
        ),
        ("[Ether, 7]", "7 is not a valid layer", "write a layer's name", ("packet", 1)),
        ("[IP, UDP]", "the first layer is IP", "begin with Ether", ("packet", 0)),
        ("[]", "a packet is a list of 1 to 32 layers", "write a layer's name", ("packet",)),
        ("Ether", "a packet is a list", "write a layer's name", ("packet",)),
        # Its CRC comes after all that it wraps, where the signature belongs.
        ("[Ether, MPacketPreamble, Ether]", "checksum that the signature", "", ("packet",)),
    ],
)
def test_what_cannot_be_sent_is_refused(
    packet: str, problem: str, remedy: str, where: tuple[object, ...]
) -> None:
    message, what_to_do, place = _refused(packet)
    assert problem in message
    assert remedy in what_to_do
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
def test_a_written_packet_is_sent_as_it_stands(fields: dict[str, Any], where: str) -> None:
    message, remedy, place = _refused("[Ether, IP, UDP]", **fields)
    assert "is sent as it stands" in message
    assert remedy == "remove it, or packet"
    assert place == (where,)


def test_a_way_back_needs_a_way_there() -> None:
    with pytest.raises(ValidationError, match="no packet to go with it"):
        Stream.model_validate({"name": "a", "role": "load", "reverse_packet": ["Ether"]})


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


def test_a_field_that_is_left_out_of_the_layer_is_refused() -> None:
    packet = "[Ether, IPv6, {ICMPv6NIReplyUnknown: {nonce: fullsize, data: abc}}]"
    message, remedy, place = _refused(packet)
    assert "ICMPv6NIReplyUnknown.data: 'abc' does not fit" in message
    assert "or the flags that bring the field in" in remedy
    assert place == ("packet", 2)
