"""The packet of a plain stream: one protocol between two ends, perhaps encapsulated."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, model_validator

from plimsoll.errors import InputError
from plimsoll.text.mistakes import brief, mistake
from plimsoll.traffic.frames.addresses import Endpoint, IpField, MacField, PortField
from plimsoll.traffic.frames.scapy_layers import Layer, Stack, layer

TTL = 64


def ethernet(source: str, destination: str) -> Layer:
    """An Ethernet header between MAC addresses."""
    return layer("Ether", src=source, dst=destination)


def network(source: Endpoint, destination: Endpoint) -> Layer:
    """An IPv4 or IPv6 header."""
    ends = {"src": str(source.ip), "dst": str(destination.ip)}
    if source.ip.version == 6:
        return layer("IPv6", **ends, hlim=TTL)
    return layer("IP", **ends, id=0, flags="DF", ttl=TTL)


# Ethertypes of what follows: IEEE 802.1Q and 802.1ad, RFC 3032 and so on.
_ETHERTYPES = {
    "Dot1Q": 0x8100,
    "Dot1AD": 0x88A8,
    "MPLS": 0x8847,
    "IP": 0x0800,
    "IPv6": 0x86DD,
    "ARP": 0x0806,
}
_PORT_VXLAN = 4789
_PORT_GTPU = 2152
_GTPU_DATA = 255


class VlanTag(BaseModel):
    """One 802.1Q tag."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[StrictInt, Field(ge=0, le=4094)]
    priority: Annotated[StrictInt, Field(ge=0, le=7)] = 0


def _tags(given: object) -> object:
    """One tag or a list of them, a tag being its number or its fields."""
    if not isinstance(given, list | tuple):
        return (_tag(given),)
    return tuple(_tag(each, place) for place, each in enumerate(given))


def _tag(given: object, *place: int) -> object:
    if isinstance(given, int) and not isinstance(given, bool):
        return {"id": given}
    if not isinstance(given, dict | VlanTag):
        problem = f"{brief(given)} is not a valid VLAN tag"
        raise mistake(problem, "write its number, such as 100, or {id: 100, priority: 5}", *place)
    return given


def _labels(given: object) -> object:
    return (given,) if isinstance(given, int) else given


# Two tags are QinQ, the outer one first.
VlanTags = Annotated[tuple[VlanTag, ...], Field(max_length=2), BeforeValidator(_tags)]
# 0 to 15 have a meaning of their own (RFC 3032, section 2.1).
MplsLabels = Annotated[
    tuple[Annotated[StrictInt, Field(ge=16, le=2**20 - 1)], ...],
    Field(max_length=8),
    BeforeValidator(_labels),
]


class _Tunnel(BaseModel):
    """The outer header's ends; a private network's, apart from those of the streams inside."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    src_ip: IpField = IPv4Address("10.0.0.1")
    dst_ip: IpField = IPv4Address("10.1.0.1")

    @model_validator(mode="after")
    def _one_family(self) -> Self:
        if self.src_ip.version != self.dst_ip.version:
            problem = f"{self.src_ip} and {self.dst_ip} are of different IP versions"
            raise mistake(problem, "give both of one version", "dst_ip")
        return self


class Vxlan(_Tunnel):
    """RFC 7348: a whole Ethernet frame inside UDP."""

    vni: Annotated[StrictInt, Field(ge=0, le=2**24 - 1)]
    src_mac: MacField = "02:00:02:00:00:01"
    dst_mac: MacField = "02:00:03:00:00:01"
    src_port: PortField = 49152

    def layers(self, *, reverse: bool) -> Stack:
        """What goes before the inner frame, its Ethernet header first."""
        source = Endpoint(self.src_mac, self.src_ip, self.src_port)
        destination = Endpoint(self.dst_mac, self.dst_ip, _PORT_VXLAN)
        if reverse:
            source, destination = destination, source
        return (
            ethernet(source.mac, destination.mac),
            network(source, destination),
            _unchecked_udp(self.src_port, _PORT_VXLAN),
            layer("VXLAN", flags=8, vni=self.vni),
        )


class Gtpu(_Tunnel):
    """3GPP TS 29.281: an IP packet inside UDP."""

    teid: Annotated[StrictInt, Field(ge=0, le=2**32 - 1)]

    def layers(self, *, reverse: bool) -> Stack:
        """What goes between the Ethernet header and the inner IP packet."""
        ends = (self.src_ip, self.dst_ip)
        source, destination = (
            Endpoint("", ip, _PORT_GTPU) for ip in (reversed(ends) if reverse else ends)
        )
        return (
            network(source, destination),
            _unchecked_udp(_PORT_GTPU, _PORT_GTPU),
            layer("GTP_U_Header", gtp_type=_GTPU_DATA, teid=self.teid),
        )


def tagged(stack: Stack, tags: tuple[VlanTag, ...], labels: tuple[int, ...]) -> Stack:
    """The stack with VLAN tags and MPLS labels behind its first Ethernet header."""
    kinds = ("Dot1AD", "Dot1Q")[-len(tags) :] if tags else ()
    header = [stack[0]]
    header += [
        layer(kind, vlan=tag.id, prio=tag.priority) for kind, tag in zip(kinds, tags, strict=True)
    ]
    inside = [
        layer("MPLS", label=label, s=int(place == len(labels)), ttl=TTL)
        for place, label in enumerate(labels, start=1)
    ]
    names = [each.name for each in (*header[1:], *inside, stack[1])]
    typed = [
        each.replaced({"type": _ETHERTYPES[name]})
        for each, name in zip(header, names, strict=False)
    ]
    return (*typed, *inside, *stack[1:])


def _unchecked_udp(source: int, destination: int) -> Layer:
    """A tunnel's UDP has no checksum, over IPv6 too (RFC 7348 section 5, RFC 6935).

    With one it would depend on all that changes inside.
    """
    return layer("UDP", sport=source, dport=destination, chksum=0)


Protocol = Literal["UDP", "TCP", "ICMP", "ARP", "GARP", "PTP"]

_BROADCAST = "ff:ff:ff:ff:ff:ff"
_ZERO_MAC = "00:00:00:00:00:00"
_REQUEST, _REPLY = 1, 2
_ECHO_REQUEST = 8
# IEEE 1588-2008: EtherType (annex F), and a Sync message of version 2, its 34 bytes of header and
# ten of time (13.6) zero but for type, version and length.
_PTP_TYPE = 0x88F7
_PTP_SYNC = bytes([0x00, 0x02, 0x00, 44]).ljust(44, b"\0")


def plain_stacks(
    protocol: Protocol,
    source: Endpoint,
    destination: Endpoint,
    *,
    tags: tuple[VlanTag, ...] = (),
    labels: tuple[int, ...] = (),
    tunnel: Vxlan | Gtpu | None = None,
    reverse: bool = False,
) -> tuple[Stack, ...]:
    """The packets that take turns, from `source` to `destination`.

    One, but for gratuitous ARP, of which there are requests and replies. `reverse` says
    which way the tunnel is passed. Raises InputError for what cannot be combined.
    """
    if protocol == "PTP":
        if tags or labels or tunnel is not None:
            raise InputError(
                "PTP goes right behind the Ethernet header, where ports look for it",
                remedy="remove vlan, mpls, vxlan and gtpu, or send another protocol",
            )
        return (_sync(source, destination),)
    packets = _packets(protocol, source, destination)
    return tuple(tagged(_tunnelled(each, tunnel, reverse), tags, labels) for each in packets)


def _packets(protocol: Protocol, source: Endpoint, destination: Endpoint) -> list[Stack]:
    if protocol in ("ARP", "GARP"):
        if source.ip.version != 4:
            raise InputError(
                f"{protocol} needs IPv4 addresses",
                remedy="give IPv4 addresses, or a packet with ICMPv6ND_NS",
            )
        return _arp(protocol, source, destination)
    headers = (ethernet(source.mac, destination.mac), network(source, destination))
    return [(*headers, _transport(protocol, source, destination))]


def _sync(source: Endpoint, destination: Endpoint) -> Stack:
    ethernet_header = ethernet(source.mac, destination.mac).replaced({"type": _PTP_TYPE})
    return (ethernet_header, layer("Raw", load=f"0x{_PTP_SYNC.hex()}"))


def _transport(protocol: Protocol, source: Endpoint, destination: Endpoint) -> Layer:
    if protocol == "ICMP":
        if source.ip.version == 6:
            return layer("ICMPv6EchoRequest", id=0, seq=0)
        return layer("ICMP", type=_ECHO_REQUEST, id=0, seq=0)
    if protocol == "TCP":
        # As trafficgen's: a connection's first segment, which no stateful DUT drops.
        return layer("TCP", sport=source.port, dport=destination.port, flags="S")
    return layer("UDP", sport=source.port, dport=destination.port)


def _arp(protocol: Protocol, source: Endpoint, destination: Endpoint) -> list[Stack]:
    ethernet_header = ethernet(source.mac, _BROADCAST)
    own = str(source.ip)
    if protocol == "ARP":
        target = {"hwdst": _ZERO_MAC, "pdst": str(destination.ip)}
        return [(ethernet_header, layer("ARP", op=_REQUEST, hwsrc=source.mac, psrc=own, **target))]
    return [
        (
            ethernet_header,
            layer("ARP", op=kind, hwsrc=source.mac, psrc=own, hwdst=_BROADCAST, pdst=own),
        )
        for kind in (_REQUEST, _REPLY)
    ]


def _tunnelled(stack: Stack, tunnel: Vxlan | Gtpu | None, reverse: bool) -> Stack:
    if isinstance(tunnel, Vxlan):
        return (*tunnel.layers(reverse=reverse), *stack)
    if isinstance(tunnel, Gtpu):
        if stack[1].name == "ARP":
            raise InputError("GTP-U carries IP packets, not ARP", remedy="use vxlan, or UDP")
        return (stack[0], *tunnel.layers(reverse=reverse), *stack[1:])
    return stack
