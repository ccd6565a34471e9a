"""What varies: the bytes that the engine is to write, applied by hand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from plimsoll.traffic.plan import FieldWriter, StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream
from tests.unit.traffic.frame_reader import Parsed, parse, written
from tests.worded.says import Says

_FIELDS = ["src_mac", "dst_mac", "src_ip", "dst_ip", "src_port", "dst_port"]
_FORMS: list[dict[str, Any]] = [
    {},
    {"protocol": "TCP"},
    {"src_ip": "2001:2::1"},
    {"vlan": [5, 6]},
    {"mpls": [77]},
    {"vxlan": {"vni": 42}},
    {"gtpu": {"teid": 42}},
]


def _plan(reverse: bool = False, **given: Any) -> StreamPlan:
    way = "revunidirectional" if reverse else "unidirectional"
    stream = {"name": "load", "role": "load", "frame_size": 200, "direction": way}
    profile = Profile.model_validate({"streams": [stream | given]})
    (plan,) = compile_profile(profile, 1000, ((0, 1), (1, 0)))
    return plan


def _refused(**given: Any) -> tuple[str, str, tuple[str | int, ...]]:
    with pytest.raises(ValidationError) as caught:
        Stream.model_validate({"name": "load", "role": "load", "frame_size": 200} | given)
    error = caught.value.errors()[0]
    context = error.get("ctx", {})
    return error["msg"], context.get("remedy", ""), (*error["loc"], *context.get("field", ()))


def _innermost(parsed: Parsed) -> dict[str, object]:
    source_mac, destination_mac = parsed.macs[-1]
    return {
        "src_mac": source_mac,
        "dst_mac": destination_mac,
        "src_ip": parsed.ips[-1][0],
        "dst_ip": parsed.ips[-1][1],
        "src_port": parsed.ports[-1][0],
        "dst_port": parsed.ports[-1][1],
    }


@given(
    st.sampled_from(_FORMS),
    st.sets(st.sampled_from(_FIELDS), min_size=1),
    st.integers(2, 60_000),
    st.booleans(),
    st.data(),
)
def test_flows_change_the_innermost_fields_and_keep_all_checksums(
    form: dict[str, Any], vary: set[str], flows: int, reverse: bool, data: st.DataObject
) -> None:
    number = data.draw(st.integers(1, flows - 1))
    plan = _plan(reverse, vary=sorted(vary), flows=flows, **form)
    first, later = (parse(written(plan, each)) for each in (0, number))
    assert all(later.valid)
    before, after = _innermost(first), _innermost(later)
    assert {field for field in _FIELDS if before[field] != after[field]} == vary
    unchanged = ("tags", "labels", "tunnels", "ethertypes", "protocols", "payload", "ttls")
    assert all(getattr(first, each) == getattr(later, each) for each in unchanged)
    assert (first.macs[:-1], first.ips[:-1]) == (later.macs[:-1], later.ips[:-1])


def test_the_seed_methodologys_flows_change_the_destination_address() -> None:
    """IPv4 destination at 30; header checksum at 24, UDP checksum at 40."""
    assert _plan(flows=1024).fields == (FieldWriter(30, 4, 1024, fixes=(24, 40)),)


def test_two_to_the_24_flows_need_no_table() -> None:
    network = {"src_ip": "10.0.0.1", "dst_ip": "12.0.0.1", "prefix": 7}
    plan = _plan(flows=2**24, **network)
    assert parse(written(plan, 2**24 - 1)).ips == [("10.0.0.1", "13.0.0.0")]
    assert parse(written(plan, 2**24)).ips == parse(written(plan, 0)).ips


def test_one_flow_writes_nothing() -> None:
    assert _plan().fields == ()


@pytest.mark.parametrize(
    ("name", "form", "writer"),
    [
        ("vlan", {"vlan": 100}, FieldWriter(14, 2, 9, mask=0x0FFF)),
        ("vlan", {"vlan": [200, 100]}, FieldWriter(18, 2, 9, mask=0x0FFF)),
        ("mpls", {"mpls": [100, 200]}, FieldWriter(18, 3, 9, mask=0xFFFFF0)),
        ("vni", {"vxlan": {"vni": 1}}, FieldWriter(14 + 20 + 8 + 4, 3, 9)),
        ("teid", {"gtpu": {"teid": 1}}, FieldWriter(14 + 20 + 8 + 4, 4, 9)),
        # An IPv6 address's lowest eight bytes; the UDP checksum is at 14 + 40 + 6.
        ("dst_ip", {"src_ip": "2001:2::1"}, FieldWriter(14 + 32, 8, 9, fixes=(60,))),
    ],
)
def test_short_names_of_encapsulations(
    name: str, form: dict[str, Any], writer: FieldWriter
) -> None:
    assert _plan(vary=[name], flows=9, **form).fields == (writer,)


def test_tags_count_up_next_to_their_priority() -> None:
    plan = _plan(vlan=[{"id": 100, "priority": 5}], vary=["vlan"], flows=9)
    assert parse(written(plan, 8)).tags == [(108, 5)]


def test_labels_count_up_next_to_their_ttl() -> None:
    plan = _plan(mpls=[100, 200], vary=["mpls"], flows=9)
    assert parse(written(plan, 8)).labels == [100, 208]


def test_arps_source_stands_in_more_than_one_place() -> None:
    plan = _plan(protocol="GARP", vary=["src_ip", "src_mac"], flows=5)
    parsed = parse(written(plan, 3))
    mac = "02:00:00:00:00:04"
    assert parsed.macs[0][0] == mac
    assert parsed.arp == (1, mac, "198.18.0.4", "ff:ff:ff:ff:ff:ff", "198.18.0.4")


def test_a_field_at_length_counts_by_itself() -> None:
    entry = {"field": "IP.dst", "count": 4, "step": 256, "first": 1}
    plan = _plan(vary=["src_port", entry], flows=3)
    frames = [parse(written(plan, number)) for number in range(5)]
    assert [parsed.ips[0][1] for parsed in frames] == [
        "198.19.1.1",
        "198.19.2.1",
        "198.19.3.1",
        "198.19.0.1",
        "198.19.1.1",
    ]
    assert [parsed.ports[0][0] for parsed in frames] == [4096, 4097, 4098, 4096, 4097]
    assert all(all(parsed.valid) for parsed in frames)


def test_the_outer_header_is_the_first_of_its_name() -> None:
    plan = _plan(vxlan={"vni": 1}, vary=["IP[1].dst", "IP[2].dst", "UDP[1].sport"], flows=7)
    parsed = parse(written(plan, 6))
    assert parsed.ips == [("10.0.0.1", "10.1.0.7"), ("198.18.0.1", "198.19.0.7")]
    assert parsed.ports[0] == (49158, 4789)
    assert all(parsed.valid)


@pytest.mark.parametrize(
    ("field", "form", "values", "read"),
    [
        ("IP.dst", {}, ["1.2.3.4", "255.0.0.1"], ["1.2.3.4", "255.0.0.1"]),
        (
            "IPv6.dst",
            {"src_ip": "2001:2::1"},
            ["2001:2:0:2::9", "2001:2:0:2:7fff::"],
            ["2001:2:0:2::9", "2001:2:0:2:7fff::"],
        ),
    ],
)
def test_listed_values_take_turns(
    field: str, form: dict[str, Any], values: list[str], read: list[str]
) -> None:
    plan = _plan(vary=[{"field": field, "values": values}], **form)
    frames = [parse(written(plan, number)) for number in range(3)]
    assert [parsed.ips[0][1] for parsed in frames] == [*read, read[0]]
    assert all(all(parsed.valid) for parsed in frames)


def test_listed_macs_and_numbers() -> None:
    macs = {"field": "Ether.src", "values": ["02:00:00:00:00:09", "06:00:00:00:00:01"]}
    ttls = {"field": "IP.ttl", "values": [1, 255, 64]}
    plan = _plan(vary=[macs, ttls])
    parsed = parse(written(plan, 1))
    assert (parsed.macs[0][0], parsed.ttls) == ("06:00:00:00:00:01", [255])
    assert all(parsed.valid)


def test_random_values_are_left_to_the_engine() -> None:
    entry = {"field": "UDP.sport", "values": "random", "count": 1000, "seed": 7}
    assert _plan(vary=[entry]).fields == (
        FieldWriter(34, 2, 1000, kind="random", seed=7, fixes=(40,)),
    )


@pytest.mark.parametrize(
    ("vary", "facts", "where"),
    [
        (["dts_ip"], ("dts_ip", "dst_ip"), ("vary", 0)),
        (["vni"], ("vni", "Ether/IP/UDP", "vary"), ("vary", 0)),
        (["IP[2].dst"], ("IP[2].dst", "vary"), ("vary", 0)),
        (["IP.dts"], ("dts",), ("vary", 0)),
        (["dst_ip", "IP.dst"], ("vary",), ("vary",)),
        (["IP.options"], (), ("vary", 0)),
        ([{"field": "IP.dst", "first": 9}], ("9", "4"), ("vary", 0)),
        (
            [{"field": "ip"}],
            ("ip", "IP.dst"),
            ("vary", 0, "Variation", "field"),
        ),
        (
            [{"field": "IP.dst", "values": ["10.0.0.1", "host"]}],
            ("host", "IPv4"),
            ("vary", 0),
        ),
        ([{"field": "IP.ttl", "values": [256]}], ("256", "8"), ("vary", 0)),
        ([{"field": "IP.ttl", "values": ["x"]}], ("x",), ("vary", 0)),
        (
            [{"field": "IP.dst", "values": ["10.0.0.1"], "count": 3}],
            ("3",),
            ("vary", 0, "Variation", "count"),
        ),
        (
            [{"field": "IP.dst", "values": ["10.0.0.1"], "step": 3}],
            ("step",),
            ("vary", 0, "Variation", "step"),
        ),
        (
            [{"field": "IP.dst", "seed": 3}],
            ("seed",),
            ("vary", 0, "Variation", "seed"),
        ),
    ],
)
def test_what_cannot_vary_is_refused(
    vary: list[Any], facts: tuple[str, ...], where: tuple[str | int, ...], says: Says
) -> None:
    message, what_to_do, place = _refused(vary=vary, flows=4)
    assert (message, what_to_do) == says(*facts)
    assert place == where


_TCP6 = {"protocol": "TCP", "src_ip": "2001:2::1"}


@pytest.mark.parametrize(
    ("field", "form", "facts"),
    [
        ("IP.proto", {}, ()),
        ("IP.len", {}, ()),
        ("IP.chksum", {}, ()),
        ("IP.ihl", {}, ()),
        ("IP.version", {}, ("version",)),
        ("UDP.len", {}, ()),
        ("UDP.chksum", {}, ()),
        ("TCP.chksum", _TCP6, ()),
        ("TCP.dataofs", _TCP6, ()),
        ("IPv6.plen", _TCP6, ()),
        ("IPv6.nh", _TCP6, ()),
        ("IPv6.version", _TCP6, ("version",)),
        ("Ether.type", {}, ()),
        ("Dot1Q.type", {"vlan": 5}, ()),
        ("MPLS.s", {"mpls": [50]}, ()),
        ("ARP.plen", {"protocol": "ARP"}, ()),
        ("ICMP.chksum", {"protocol": "ICMP"}, ()),
        ("GTP_U_Header.length", {"gtpu": {"teid": 1}}, ("length",)),
    ],
)
@pytest.mark.parametrize("at_length", [False, True])
def test_what_says_how_a_packet_is_read_does_not_vary(
    field: str, form: dict[str, Any], facts: tuple[str, ...], at_length: bool, says: Says
) -> None:
    vary = {"field": field, "values": [1, 2]} if at_length else field
    message, remedy, place = _refused(vary=[vary], flows=2, **form)
    assert message == says(str(field), *facts)
    assert remedy == says("vary")
    assert place == ("vary", 0)


def test_a_field_at_length_needs_a_count(says: Says) -> None:
    message, remedy, _ = _refused(vary=[{"field": "IP.dst"}])
    assert message == says("IP.dst")
    assert remedy == says()


@pytest.mark.parametrize(
    ("address", "direction", "facts"),
    [
        ("2001:db8::1", "unidirectional", ("2001:db8::1", "2001:2:0:2::1")),
        ("2001:2:0:2::9", "bidirectional", ("2001:2:0:2::9", "2001:2::1")),
        ("2001:2:0:2:8000::", "unidirectional", ("64",)),
    ],
)
def test_listed_ipv6_addresses_differ_in_their_lower_half(
    address: str, direction: str, facts: tuple[str, ...], says: Says
) -> None:
    listed = {"field": "IPv6.dst", "values": [address]}
    message, remedy, _ = _refused(vary=[listed], src_ip="2001:2::1", direction=direction)
    assert message == says(*facts)
    assert remedy


def test_no_more_than_eight_fields_vary(says: Says) -> None:
    tags = ["src_mac", "dst_mac", "src_ip", "dst_ip", "src_port", "dst_port", "IP.ttl", "IP.id"]
    assert len(_plan(vary=tags, flows=2).fields) == 8
    # The first two stand in two places each.
    vary = ["src_mac", "src_ip", "vlan", "Dot1Q.prio", "Ether.dst", "ARP.op", "ARP.hwdst"]
    message, remedy, _ = _refused(protocol="GARP", vlan=5, vary=vary, flows=2)
    assert remedy == "vary at most 8"
    assert message == says("9")


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"vary": ["vlan"], "vlan": 4000, "flows": 96}, ("vlan", "95", "4000")),
        ({"vary": ["mpls"], "mpls": [2**20 - 9], "flows": 10}, ("mpls", "9", "1048567")),
        ({"vary": ["vni"], "vxlan": {"vni": 2**24 - 1}, "flows": 2}, ("vni", "1")),
        ({"vary": ["teid"], "gtpu": {"teid": 2**32 - 1}, "flows": 2}, ("teid", "1")),
        (
            {"vary": ["dst_ip"], "src_ip": "2001:2::f", "prefix": 124, "flows": 16},
            ("dst_ip", "15", "2001:2:0:2::1"),
        ),
        (
            {"vary": ["src_mac"], "src_mac": "02:00:00:ff:ff:ff", "flows": 2},
            ("src_mac", "1"),
        ),
    ],
)
def test_there_are_no_more_flows_than_values(
    given: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    message, remedy, place = _refused(**given)
    assert (message, remedy) == says(*facts)
    assert place == ("flows",)
