"""The OTG headers that frames can have, each with its layer of Scapy and how its fields are read.

Defaults are OTG's, which are not Scapy's. Lengths, types and checksums that OTG leaves to the
generator are Scapy's, and so is what it cannot mean: a UDP length of 0, a VLAN's type of 0xffff.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from plimsoll.remote.otg.flows.pattern import Pattern, read_pattern
from plimsoll.remote.otg.model.given import Given
from plimsoll.remote.otg.model.published import placed_at
from plimsoll.traffic.frames.field_values import ValueKind, from_number
from plimsoll.traffic.frames.scapy_layers import FieldValue, Layer


@dataclass
class Header:
    """One header as it is read: fields of the layer, and those of them that vary, with paths."""

    layer: str
    given: Given
    # The OTG name of the header that follows; empty for none.
    following: str
    fields: dict[str, FieldValue] = field(default_factory=dict)
    varied: dict[str, tuple[Pattern, str]] = field(default_factory=dict)

    def put(self, name: str, pattern: Pattern, path: str, kind: ValueKind = "number") -> None:
        """Give a field of the layer the pattern that stands at a path of the request."""
        self.fields[name] = from_number(kind, pattern.first)
        if pattern.varies:
            self.varied[name] = (pattern, path)

    def take(self, otg: str, name: str, kind: ValueKind = "number") -> None:
        """The same for an OTG field that says it, or has a default. With `auto` Scapy's holds."""
        pattern = read_pattern(self.given.part(otg))
        if pattern is not None:
            self.put(name, pattern, self.given.place(otg), kind)

    def take_given(self, otg: str, name: str, kind: ValueKind = "number") -> None:
        """The same only where it is given: a default that no frame can have means `auto`."""
        if self.given.has(otg):
            self.take(otg, name, kind)

    def single(self, otg: str) -> int:
        """The only value of a field that cannot vary."""
        part = self.given.part(otg)
        pattern = read_pattern(part)
        if pattern is None or pattern.varies:
            raise part.refused("", "cannot vary", "give one value")
        return pattern.first

    def take_checksum(self, name: str, otg: str = "checksum") -> None:
        """Right as long as nothing else is said; a wrong one as given, in every frame alike."""
        part = self.given.part(otg)
        if part.choice == "custom":
            self.fields[name] = part.whole("custom")
        elif part.text("generated") == "bad":
            raise part.refused("generated", "bad checksums are not made", "give a custom one")

    def built(self) -> Layer:
        """The layer."""
        return Layer(self.layer, tuple(self.fields.items()))


Reader = Callable[[Header], None]


@dataclass(frozen=True, slots=True)
class PlainFields:
    """A reader of fields that have the same meaning on both sides: Scapy's name and its kind."""

    numbers: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, tuple[str, ValueKind]] = field(default_factory=dict)
    checksum: str = ""

    def __call__(self, header: Header) -> None:
        """Read them."""
        for otg, name in self.numbers.items():
            header.take(otg, name)
        for otg, (name, kind) in self.addresses.items():
            header.take(otg, name, kind)
        if self.checksum:
            header.take_checksum(self.checksum)


def read_header(layer: str, read: Reader, given: Given, following: str) -> Header:
    """The header that stands at a place of the request. Raises Refusal."""
    header = Header(layer, given, following)
    with placed_at(given.path):
        read(header)
    return header


# What OTG has where nothing follows that says more.
_NO_TYPE = 0xFFFF
_NO_PROTOCOL = 61
_NO_NEXT_HEADER = 59
_NO_ADDRESS = str(IPv4Address(0))
_ICMPV6_REPLY = 129
_MAX_CUSTOM_BYTES = 9000
# The TCP flags from the lowest bit, as Scapy has them in one field.
_TCP_FLAGS = [
    "ctl_fin",
    "ctl_syn",
    "ctl_rst",
    "ctl_psh",
    "ctl_ack",
    "ctl_urg",
    "ecn_echo",
    "ecn_cwr",
    "ecn_ns",
]
# The bits of the type of service from the lowest, and the precedence above them.
_TOS = ["unused", "monetary", "reliability", "throughput", "delay", "precedence"]
_BEHIND_ETHERNET = ("vlan", "ipv4", "ipv6", "arp", "mpls")
_BEHIND_IP = ("tcp", "udp", "icmp", "icmpv6", "gre", "ipv4", "ipv6")


def _ethernet(header: Header) -> None:
    header.take("dst", "dst", "mac")
    header.fields.setdefault("dst", "00:00:00:00:00:00")
    header.take("src", "src", "mac")
    header.take("ether_type", "type")
    if header.following not in _BEHIND_ETHERNET:
        header.fields.setdefault("type", _NO_TYPE)


def _vlan(header: Header) -> None:
    for otg, name in {"priority": "prio", "id": "vlan"}.items():
        header.take(otg, name)
    # Scapy 2.6 names the bit after what it means since 2011.
    header.take("cfi", _field_named("Dot1Q", "dei", "id"))
    pattern = read_pattern(header.given.part("tpid"))
    if pattern is not None and (pattern.varies or pattern.first != _NO_TYPE):
        header.put("type", pattern, header.given.place("tpid"))
    elif header.following not in _BEHIND_ETHERNET:
        header.fields["type"] = _NO_TYPE


def _field_named(layer: str, *names: str) -> str:
    from plimsoll.traffic.frames.scapy_layers import layer_class  # noqa: PLC0415

    known = {each.name for each in layer_class(layer).fields_desc}
    return next(name for name in names if name in known)


def _ipv4(header: Header) -> None:
    header.take("identification", "id")
    header.take("fragment_offset", "frag")
    header.take("time_to_live", "ttl")
    bits = [header.single(name) for name in ("more_fragments", "dont_fragment", "reserved")]
    header.fields["flags"] = sum(bit << place for place, bit in enumerate(bits))
    for otg, name in {"total_length": "len", "header_length": "ihl", "protocol": "proto"}.items():
        header.take(otg, name)
    if header.following not in _BEHIND_IP:
        header.fields.setdefault("proto", _NO_PROTOCOL)
    _priority(header, header.given.part("priority"))
    header.take_checksum("chksum", "header_checksum")
    for end in ("src", "dst"):
        header.take(end, end, "ipv4")
        header.fields.setdefault(end, _NO_ADDRESS)


def _priority(header: Header, given: Given) -> None:
    path = given.place(given.choice)
    match given.choice:
        case "raw":
            pattern = read_pattern(given.part("raw"))
            if pattern is not None:
                header.put("tos", pattern, path)
        case "dscp":
            dscp = Header("IP", given.part("dscp"), "")
            pattern = read_pattern(dscp.given.part("phb"))
            if pattern is not None:
                header.put("tos", pattern.shifted(2, dscp.single("ecn")), path)
        case _:
            tos = Header("IP", given.part("tos"), "")
            header.fields["tos"] = sum(tos.single(name) << bit for bit, name in enumerate(_TOS))


def _ipv6(header: Header) -> None:
    for otg, name in {
        "traffic_class": "tc",
        "flow_label": "fl",
        "payload_length": "plen",
        "next_header": "nh",
        "hop_limit": "hlim",
    }.items():
        header.take(otg, name)
    if header.following not in _BEHIND_IP:
        header.fields.setdefault("nh", _NO_NEXT_HEADER)
    for end in ("src", "dst"):
        header.take(end, end, "ipv6")
        header.fields.setdefault(end, "::")


def _tcp(header: Header) -> None:
    for otg, name in {
        "src_port": "sport",
        "dst_port": "dport",
        "seq_num": "seq",
        "ack_num": "ack",
        "window": "window",
    }.items():
        header.take(otg, name)
    header.fields["flags"] = sum(header.single(name) << bit for bit, name in enumerate(_TCP_FLAGS))
    if words := header.single("data_offset"):
        header.fields["dataofs"] = words
    header.take_checksum("chksum")


def _udp(header: Header) -> None:
    header.take("src_port", "sport")
    header.take("dst_port", "dport")
    if length := header.single("length"):
        header.fields["len"] = length
    header.take_checksum("chksum")


def _icmpv6(header: Header) -> None:
    echo = Header("", header.given.part("echo"), "")
    if echo.single("type") == _ICMPV6_REPLY:
        header.layer = "ICMPv6EchoReply"
    for otg, name in {"type": "type", "code": "code", "identifier": "id"}.items():
        echo.take(otg, name)
    echo.take("sequence_number", "seq")
    echo.take_checksum("cksum")
    header.fields, header.varied = echo.fields, echo.varied


def _icmp(header: Header) -> None:
    echo = Header("", header.given.part("echo"), "")
    for otg, name in {"type": "type", "code": "code", "identifier": "id"}.items():
        echo.take(otg, name)
    echo.take("sequence_number", "seq")
    echo.take_checksum("chksum")
    header.fields, header.varied = echo.fields, echo.varied


def _gre(header: Header) -> None:
    if header.single("checksum_present"):
        header.fields["chksum_present"] = 1
        header.take_checksum("chksum")
    header.take("protocol", "proto")


def _gtpv1(header: Header) -> None:
    for otg, name in {
        "version": "version",
        "protocol_type": "PT",
        "e_flag": "E",
        "s_flag": "S",
        "pn_flag": "PN",
    }.items():
        header.fields[name] = header.single(otg)
    for otg, name in {"message_type": "gtp_type", "teid": "teid"}.items():
        header.take(otg, name)
    if length := header.single("message_length"):
        header.fields["length"] = length
    if header.fields["E"] or header.fields["S"] or header.fields["PN"]:
        header.take("squence_number", "seq")
        header.take("n_pdu_number", "npdu")
        header.take("next_extension_header_type", "next_ex")


def _mpls(header: Header) -> None:
    header.take("label", "label")
    header.fields.setdefault("label", 16)
    header.take("traffic_class", "cos")
    header.take("bottom_of_stack", "s")
    header.fields.setdefault("s", int(header.following != "mpls"))
    header.take("time_to_live", "ttl")


def _custom(header: Header) -> None:
    digits = re.sub("[: ]", "", header.given.text("bytes"))
    if len(digits) % 2 or not re.fullmatch("[0-9A-Fa-f]*", digits):
        raise header.given.refused("bytes", "these are not whole bytes in hexadecimal")
    if len(digits) // 2 > _MAX_CUSTOM_BYTES:
        raise header.given.refused("bytes", f"more than {_MAX_CUSTOM_BYTES} bytes")
    header.fields["load"] = f"0x{digits}"


_ARP = PlainFields(
    numbers={"operation": "op"},
    addresses={
        "sender_hardware_addr": ("hwsrc", "mac"),
        "sender_protocol_addr": ("psrc", "ipv4"),
        "target_hardware_addr": ("hwdst", "mac"),
        "target_protocol_addr": ("pdst", "ipv4"),
    },
)
_VXLAN = PlainFields(numbers={"flags": "flags", "vni": "vni"})

HEADERS: Mapping[str, tuple[str, Reader]] = {
    "ethernet": ("Ether", _ethernet),
    "vlan": ("Dot1Q", _vlan),
    "mpls": ("MPLS", _mpls),
    "arp": ("ARP", _ARP),
    "ipv4": ("IP", _ipv4),
    "ipv6": ("IPv6", _ipv6),
    "tcp": ("TCP", _tcp),
    "udp": ("UDP", _udp),
    "icmp": ("ICMP", _icmp),
    "icmpv6": ("ICMPv6EchoRequest", _icmpv6),
    "gre": ("GRE", _gre),
    "vxlan": ("VXLAN", _VXLAN),
    "gtpv1": ("GTP_U_Header", _gtpv1),
    "custom": ("Raw", _custom),
}
_MAX_HEADERS = 32


def read_headers(flow: Given, path: str) -> list[Header]:
    """The headers of a flow, an Ethernet header where it has none. Raises Refusal."""
    given = flow.parts("packet")
    if not given:
        given = [
            Given({"choice": "ethernet", "ethernet": {}}, _header_model(), f"{path}.packet[0]")
        ]
    if len(given) > _MAX_HEADERS:
        raise flow.refused("packet", f"{len(given)} headers", f"give at most {_MAX_HEADERS}")
    choices = [each.choice for each in given]
    if choices[0] != "ethernet":
        raise given[0].refused("choice", f"a frame cannot begin with {choices[0]}", "use ethernet")
    return [
        _read(each, following) for each, following in zip(given, [*choices[1:], ""], strict=True)
    ]


def _header_model() -> object:
    from plimsoll.remote.otg.model.published import models  # noqa: PLC0415

    return models().FlowHeader


def _read(given: Given, following: str) -> Header:
    choice = given.choice
    if choice not in HEADERS:
        raise given.refused(choice, "this header is not supported", f"use {', '.join(HEADERS)}")
    layer, read = HEADERS[choice]
    return read_header(layer, read, given.part(choice), following)
