"""The packet of a trafficgen stream, and what varies in it from flow to flow.

The addresses that bench-trafficgen gives its streams: each a range of its own. As its
trex-txrx-profile.py draws them, one stream after the other: networks from 10.2.0.0 on, two for
each stream whose addresses vary, single addresses of 10.0.0.0 and 10.1.0.0 for the others, and
random MAC addresses of which no two share their first four bytes. Streams that share a stream_id
share all of it.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address
from typing import Any

from plimsoll.errors import InputError
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.text.mistakes import did_you_mean
from plimsoll.traffic.frames.field_values import written_bytes
from plimsoll.traffic.frames.packet import build_packet, header_bytes
from plimsoll.traffic.frames.scapy_layers import Layer, Stack, layer
from plimsoll.traffic.plan import SHORT_SIGNATURE_BYTES, SIGNATURE_BYTES

SRC_PORT, DST_PORT = 32768, 49152
# 10.2.0.0 to 10.255.0.0, two for each stream.
_FIRST_NETWORK, _LAST_NETWORK = 2, 255
_STATIC_IPS = ("10.0.0.0", "10.1.0.0")
_MAC_VENDOR = "00:16:3e"
_MAX_PREFIXES = 256


@dataclass(frozen=True, slots=True)
class DrawnEnds:
    """What one stream sends from and to, as in the forward direction."""

    src_mac: str
    dst_mac: str
    src_ip: str
    dst_ip: str


@dataclass
class AddressPool:
    """What is left to draw. With the same seed it draws what trafficgen does with it."""

    seed: float = 0.0
    _networks: int = _FIRST_NETWORK
    _static: int = 0
    _prefixes: set[int] = field(default_factory=set)
    _shared: dict[str, DrawnEnds] = field(default_factory=dict)
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        """Begin to draw."""
        self._chance = random.Random(self.seed)  # noqa: S311 - trafficgen's own generator

    def draw(self, stream_id: str, *, ip_flows: bool) -> DrawnEnds:
        """The next stream's; those of an earlier one with this id, if there is one.

        Raises InputError, without a place, where none are left.
        """
        if stream_id and stream_id in self._shared:
            return self._shared[stream_id]
        src_ip, dst_ip = self._varying_ips() if ip_flows else self._static_ips()
        drawn = DrawnEnds(self._mac(), self._mac(), src_ip, dst_ip)
        if stream_id:
            self._shared[stream_id] = drawn
        return drawn

    def _varying_ips(self) -> tuple[str, str]:
        if self._networks + 1 > _LAST_NETWORK:
            raise InputError(
                f"there are networks for {(_LAST_NETWORK - 1) // 2} streams whose addresses vary",
                remedy="use fewer streams, or give some the same stream_id",
            )
        self._networks += 2
        return f"10.{self._networks - 2}.0.0", f"10.{self._networks - 1}.0.0"

    def _static_ips(self) -> tuple[str, str]:
        source, destination = (str(IPv4Address(start) + self._static) for start in _STATIC_IPS)
        self._static += 1
        return source, destination

    def _mac(self) -> str:
        if len(self._prefixes) == _MAX_PREFIXES:
            raise InputError(
                f"there are MAC addresses for {_MAX_PREFIXES // 2} streams",
                remedy="use fewer streams, or give some the same stream_id",
            )
        while (prefix := self._chance.randint(0, 255)) in self._prefixes:
            pass
        self._prefixes.add(prefix)
        low = [self._chance.randint(0, 255) for _ in range(2)]
        return ":".join([_MAC_VENDOR, *(f"{byte:02x}" for byte in (prefix, *low))])


_TRANSPORTS = ("UDP", "TCP")
_NETWORKS = ("IP", "IPv6")
_SWAPPED = {"src": "dst", "dst": "src"}
_PORT_FIELDS = {"src_port": "sport", "dst_port": "dport"}
_ECHO_REQUEST = 8
_MAX_PORT = 65535
# A stream of 1000 flows and more has so many ports, in turns.
_FEW = 1000
_DIVISORS = (1000, 1024)
_CALL = re.compile(r"\s*function:create_flow_mod_object\s*\((.*)\)\s*", re.DOTALL)
_ARGUMENT = re.compile(r"\s*(\w+)\s*=\s*(True|False)\s*")
_NAMES = ("src_mac", "dst_mac", "src_ip", "dst_ip", "src_port", "dst_port", "protocol")
_ARGUMENTS = {f"use_{name}_flows": name for name in _NAMES}
_REMEDY = "write function:create_flow_mod_object(use_dst_ip_flows=True)"


@dataclass(frozen=True, slots=True)
class FlowPacket:
    """Both directions' packets, and the entries of `vary`.

    In the reverse direction trafficgen swaps MAC and IP addresses, and leaves ports as they
    are.
    """

    forward: Stack
    reverse: Stack
    vary: tuple[Any, ...]


def generic_packet(protocol: str, vary: tuple[str, ...], flows: int) -> FlowPacket:
    """UDP, TCP or an ICMP echo request, addresses left to the stream's ends."""
    if protocol == "ICMP":
        transport = layer("ICMP", type=_ECHO_REQUEST, id=0, seq=0)
    else:
        transport = layer(protocol, sport=SRC_PORT, dport=DST_PORT)
    stack = (Layer("Ether"), Layer("IP"), transport)
    return _with_flows(FlowPacket(stack, stack, vary), flows)


def written_flow_packet(stack: Stack, vary: tuple[str, ...], flows: int) -> FlowPacket:
    """A packet of `the_packet`, as trafficgen turns it round.

    Raises InputError, without a place, for several layers of addresses or ports, of which
    trafficgen writes all alike.
    """
    for names in (_NETWORKS, _TRANSPORTS):
        if sum(each.name in names for each in stack) > 1:
            raise InputError(
                f"several layers of {' or '.join(names)}, which trafficgen makes all alike",
                remedy="write the packet layer by layer in an experiment's own profile",
            )
    forward = tuple(_with_ports(each) for each in stack)
    reverse = tuple(_swapped(each) for each in forward)
    return _with_flows(FlowPacket(forward, reverse, vary), flows)


def written_frame_size(stack: Stack, frame_size: int) -> int:
    """With FCS. A packet that is longer than that is sent in full, as by trafficgen."""
    return max(frame_size, header_bytes(stack) + FCS_BYTES)


def with_room(stack: Stack, frame_size: int) -> Stack:
    """The packet with its payload cut so far that a signature fits behind it."""
    headers = stack[:-1]
    if stack[-1].name != "Raw":
        return stack
    room = frame_size - FCS_BYTES - header_bytes(headers)
    signature = SIGNATURE_BYTES if room >= SIGNATURE_BYTES else SHORT_SIGNATURE_BYTES
    payload = written_bytes(str(stack[-1].get("load")))[: max(0, room - signature)]
    return (*headers, layer("Raw", load=f"0x{payload.hex()}")) if payload else headers


def with_mac_flows(packet: FlowPacket, macs: tuple[str, str], flows: int) -> FlowPacket:
    """With MAC addresses that vary written out: their last two bytes count from 0.

    `macs` are source and destination of the forward direction where the packet has none.
    """
    varied = {end: f"{end}_mac" in packet.vary and flows > 1 for end in ("src", "dst")}
    if not any(varied.values()):
        return packet
    ethernet = packet.forward[0]
    source = str(ethernet.get("src") or macs[0])
    destination = str(ethernet.get("dst") or macs[1])
    return replace(
        packet,
        forward=_with_macs(packet.forward, source, destination, varied),
        reverse=_with_macs(packet.reverse, destination, source, varied),
    )


def _with_macs(stack: Stack, source: str, destination: str, varied: dict[str, bool]) -> Stack:
    given = {"src": source, "dst": destination}
    macs = {end: f"{mac[:-5]}00:00" if varied[end] else mac for end, mac in given.items()}
    return (stack[0].replaced(macs), *stack[1:])


def _with_ports(each: Layer) -> Layer:
    """With those that Scapy has where none are given."""
    if each.name not in _TRANSPORTS:
        return each
    built = build_packet((each,))
    return each.replaced({"sport": int(built.sport), "dport": int(built.dport)})


def _swapped(each: Layer) -> Layer:
    if each.name not in ("Ether", *_NETWORKS):
        return each
    return Layer(each.name, tuple((_SWAPPED.get(name, name), v) for name, v in each.fields))


def _with_flows(packet: FlowPacket, flows: int) -> FlowPacket:
    """With its ports' numbers cut to those that trafficgen has."""
    for name in _PORT_FIELDS:
        if name in packet.vary and flows > 1:
            packet = _with_port_flows(packet, name, flows)
    return packet


def _with_port_flows(packet: FlowPacket, name: str, flows: int) -> FlowPacket:
    transport = next((each for each in packet.forward if each.name in _TRANSPORTS), None)
    if transport is None:
        raise InputError(f"there is no {name} to vary", remedy="vary what the packet has")
    port = transport.get(_PORT_FIELDS[name])
    ports = port_flows(port if isinstance(port, int) else 0, flows)
    change = {_PORT_FIELDS[name]: ports.start}
    written = _written(transport.name, name, ports, flows)
    return replace(
        packet,
        forward=_replaced(packet.forward, transport.name, change),
        reverse=_replaced(packet.reverse, transport.name, change),
        vary=tuple(written if each == name else each for each in packet.vary),
    )


def _written(transport: str, name: str, ports: PortFlows, flows: int) -> str | dict[str, Any]:
    if ports.count == flows and not ports.first:
        return name
    variation: dict[str, Any] = {"field": f"{transport}.{_PORT_FIELDS[name]}", "count": ports.count}
    return variation | ({"first": ports.first} if ports.first else {})


def _replaced(stack: Stack, name: str, change: dict[str, Any]) -> Stack:
    return tuple(each.replaced(change) if each.name == name else each for each in stack)


# The ports that bench-trafficgen varies: fewer than its flows, where these are many.
@dataclass(frozen=True, slots=True)
class PortFlows:
    """`count` ports from `start` on, of which the first frame has number `first`."""

    start: int
    count: int
    first: int


def port_flows(port: int, flows: int) -> PortFlows:
    """The ports of a stream of so many flows whose first frame has `port`.

    Raises InputError, without a place, for a number of flows that trafficgen refuses.
    """
    count = flows if flows < _FEW else next((n for n in _DIVISORS if flows % n == 0), None)
    if count is None:
        raise InputError(
            f"ports of {flows} flows, which trafficgen refuses",
            remedy="use fewer than 1000, or a multiple of 1000 or 1024",
        )
    start = _MAX_PORT - count + 1 if port + count > _MAX_PORT else port
    return PortFlows(start, count, port - start)


# bench-trafficgen's flow_mods: a Python call kept as text, parsed here and never run.
def parse_flow_mods(text: str) -> tuple[str, ...]:
    """The fields that change per flow, e.g. ("dst_ip",), in the order of a frame's writing.

    Raises InputError, without a place, for anything but one call of
    create_flow_mod_object with keywords that are True or False.
    """
    call = _CALL.fullmatch(text)
    if call is None:
        raise InputError(f"{text[:80]!r} is not a call of create_flow_mod_object", remedy=_REMEDY)
    arguments = call[1].split(",")
    if not arguments[-1].strip() and (len(arguments) == 1 or arguments[-2].strip()):
        # No argument at all, or Python's trailing comma.
        arguments.pop()
    chosen: dict[str, bool] = {}
    for argument in arguments:
        name, value = _parse_argument(argument)
        if name in chosen:
            raise InputError(f"use_{name}_flows is given twice", remedy="give it once")
        chosen[name] = value
    return tuple(name for name in _NAMES if chosen.get(name))


def _parse_argument(argument: str) -> tuple[str, bool]:
    match = _ARGUMENT.fullmatch(argument)
    if match is None:
        raise InputError(
            f"{argument.strip()[:80]!r} is not keyword=True or keyword=False", remedy=_REMEDY
        )
    if match[1] not in _ARGUMENTS:
        remedy = did_you_mean(match[1], _ARGUMENTS)
        raise InputError(f"unknown keyword {match[1]!r}", remedy=remedy)
    return _ARGUMENTS[match[1]], match[2] == "True"
