"""Devices: addresses behind a port, between which flows go. They speak no protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.remote.otg.model.given import Given

_PROTOCOLS = [
    "isis",
    "bgp",
    "vxlan",
    "rsvp",
    "dhcp_server",
    "ospfv2",
    "macsec",
    "ospfv3",
    "rocev2",
    "bmp",
    "ipv4_loopbacks",
    "ipv6_loopbacks",
]


@dataclass(frozen=True, slots=True)
class Address:
    """An IP address of a device, its way out, and the MAC of that where it is written down."""

    name: str
    version: int
    address: str
    prefix: int
    gateway: str
    gateway_mac: str | None


@dataclass(frozen=True, slots=True)
class Interface:
    """An Ethernet interface of a device: its MAC, the port that it is behind, its VLANs."""

    device: str
    name: str
    port_name: str
    mac: str
    vlans: tuple[tuple[int, int], ...]
    addresses: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class FlowEndpoint:
    """What a flow goes from or to: an interface, and one of its addresses, if it has any."""

    interface: Interface
    address: Address | None


def read_interfaces(devices: Sequence[Given]) -> list[Interface]:
    """Those of all devices. Raises Refusal for what would need a protocol."""
    return [
        _interface(device.text("name"), ethernet)
        for device in map(_without_protocols, devices)
        for ethernet in device.parts("ethernets")
    ]


def _without_protocols(device: Given) -> Given:
    for protocol in _PROTOCOLS:
        if device.has(protocol):
            raise device.refused(protocol, "protocols are not emulated", "leave it out")
    device.leave("name")
    return device


def _interface(device: str, given: Given) -> Interface:
    connection = given.part("connection")
    if connection.choice != "port_name":
        raise connection.refused(connection.choice, "only ports are supported", "use port_name")
    if not given.text("mac"):
        raise given.refused("mac", "there is none, and none is made up", "give one")
    given.leave("mtu")
    return Interface(
        device=device,
        name=given.text("name"),
        port_name=connection.text("port_name"),
        mac=given.text("mac").lower(),
        vlans=tuple((_tag(vlan), vlan.whole("priority")) for vlan in given.parts("vlans")),
        addresses=tuple(
            _address(each, version)
            for version in (4, 6)
            for each in given.parts(f"ipv{version}_addresses")
        ),
    )


def _tag(given: Given) -> int:
    given.leave("name")
    if given.text("tpid") != "x8100":
        raise given.refused("tpid", "only x8100 is supported for devices")
    return given.whole("id")


def _address(given: Given, version: int) -> Address:
    gateway = given.part("gateway_mac")
    written = gateway.choice == "value"
    if not written:
        gateway.leave("auto")
    return Address(
        name=given.text("name"),
        version=version,
        address=given.text("address"),
        prefix=given.whole("prefix"),
        gateway=given.text("gateway"),
        gateway_mac=gateway.text("value").lower() if written else None,
    )


def endpoints_by_name(interfaces: Sequence[Interface]) -> Mapping[str, FlowEndpoint]:
    """By the name of an address, an interface or a device: the first of what it has."""
    found: dict[str, FlowEndpoint] = {}
    for interface in interfaces:
        first = interface.addresses[0] if interface.addresses else None
        found.setdefault(interface.device, FlowEndpoint(interface, first))
        found.setdefault(interface.name, FlowEndpoint(interface, first))
        for address in interface.addresses:
            found.setdefault(address.name, FlowEndpoint(interface, address))
    return found


def neighbour_mac(address: Address, interfaces: Sequence[Interface]) -> str | None:
    """The MAC of an address's gateway: as written, or that of the device which has it."""
    if address.gateway_mac is not None:
        return address.gateway_mac
    for interface in interfaces:
        if any(each.address == address.gateway for each in interface.addresses):
            return interface.mac
    return None
