"""What a plain stream's packet may be wrapped in: VLAN tags, MPLS labels, VXLAN, GTP-U."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, model_validator

from plimsoll.text.mistakes import brief, mistake
from plimsoll.traffic.frames.addresses import Endpoint, IpField, MacField, PortField
from plimsoll.traffic.frames.headers import TTL, ethernet, network
from plimsoll.traffic.frames.layers import Layer, Stack, layer

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
