"""The packet of a plain stream: one protocol between two ends, perhaps encapsulated."""

from __future__ import annotations

from typing import Literal

from plimsoll.errors import InputError
from plimsoll.traffic.frames.addresses import Endpoint
from plimsoll.traffic.frames.encapsulation import Gtpu, VlanTag, Vxlan, tagged
from plimsoll.traffic.frames.headers import ethernet, network
from plimsoll.traffic.frames.layers import Layer, Stack, layer

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
