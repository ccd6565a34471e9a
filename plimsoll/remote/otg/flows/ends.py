"""From which port to which a flow goes, and between which addresses of devices behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.remote.otg.model.given import Given
from plimsoll.remote.otg.model.published import Refusals
from plimsoll.traffic.frames.packet import MAX_FRAME_SIZE


@dataclass(frozen=True, slots=True)
class OtgPort:
    """An OTG port: its name, the tester's port that its location means, and its speed if known."""

    name: str
    location: str
    number: int
    speed_bps: float | None


@dataclass(frozen=True, slots=True)
class Tester:
    """The tester as flows need it: how many ports, how the lab joins them, and their speed.

    `locations` are further names of ports, by number; `largest_frame_size` is what the ports were
    opened for, in bytes with FCS.
    """

    port_count: int
    paths: tuple[tuple[int, int], ...]
    line_rate_bps: float | None = None
    locations: Mapping[str, int] | None = None
    largest_frame_size: int = MAX_FRAME_SIZE

    def far_end(self, port: int) -> int:
        """The port at which frames from there arrive; itself where the lab has no path."""
        return next((rx for tx, rx in self.paths if tx == port), port)

    def number_of(self, location: str) -> int | None:
        """The port that a location means: its number, `port N`, or a name given to it."""
        named = (self.locations or {}).get(location)
        if named is not None:
            return named
        digits = location.removeprefix("port").strip()
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 4 else -1
        return number if 0 <= number < self.port_count else None


def read_ports(
    config: Given, tester: Tester, refusals: Refusals
) -> tuple[dict[str, OtgPort], list[str]]:
    """Ports by name, and warnings. Each location means a port of its own."""
    speeds, warnings = _layer1(config)
    ports: dict[str, OtgPort] = {}
    for given in config.parts("ports"):
        with refusals.collecting(given):
            name, location = given.text("name"), given.text("location")
            number = tester.number_of(location)
            if number is None:
                known = [*map(str, range(tester.port_count)), *(tester.locations or {})]
                raise given.refused(
                    "location", f"there is no port {location!r}", f"use one of {', '.join(known)}"
                )
            if name in ports or number in {port.number for port in ports.values()}:
                raise given.refused("name" if name in ports else "location", "another port has it")
            speed = tester.line_rate_bps or speeds.get(name)
            ports[name] = OtgPort(name, location, number, speed)
    return ports, warnings


def _layer1(config: Given) -> tuple[dict[str, float], list[str]]:
    """Speeds in bit/s by port name: what rates in percent are of where a port has no speed."""
    speeds: dict[str, float] = {}
    warnings = []
    for given in config.parts("layer1"):
        given.leave(
            "name", "media", "promiscuous", "mtu", "ieee_media_defaults", "auto_negotiate",
            "auto_negotiation", "flow_control",
        )  # fmt: skip
        names = given.names("port_names")
        speed = given.text("speed")
        if speed:
            speeds |= dict.fromkeys(names, _speed_bps(speed))
        warnings.append(
            f"{given.path}: links stay as they are"
            + (f"; {speed} is what rates in percent are of" if speed else "")
        )
    return speeds, warnings


def _speed_bps(speed: str) -> float:
    """Of one of OTG's names, such as speed_10_gbps or speed_100_fd_mbps."""
    parts = speed.split("_")
    return float(parts[1]) * (1e9 if parts[-1] == "gbps" else 1e6)


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


_MAX_PAIRS = 4096


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ends of a flow between devices, and the MAC that frames are sent to."""

    source: FlowEndpoint
    destination: FlowEndpoint
    next_hop_mac: str


@dataclass(frozen=True, slots=True)
class FlowEnds:
    """One direction of a flow. `pairs` is empty between bare ports.

    Where `anywhere`, frames count as received on whichever port they arrive.
    """

    tx: OtgPort
    rx_port: int
    rx_name: str
    anywhere: bool = False
    pairs: tuple[Pair, ...] = ()


def read_ends(
    given: Given, ports: Mapping[str, OtgPort], interfaces: Sequence[Interface], tester: Tester
) -> list[FlowEnds]:
    """The directions of a flow. Raises Refusal."""
    if given.choice == "port":
        return [_port_ends(given.part("port"), ports, tester)]
    return _device_ends(given.part("device"), ports, interfaces)


def _port_ends(given: Given, ports: Mapping[str, OtgPort], tester: Tester) -> FlowEnds:
    tx = _port(given, "tx_name", given.text("tx_name"), ports)
    field = "rx_names" if given.names("rx_names") else "rx_name"
    names = given.names("rx_names") or [given.text("rx_name")] * bool(given.text("rx_name"))
    given.leave("rx_name", "rx_names")
    rx = [_port(given, field, name, ports) for name in names]
    far_end = tester.far_end(tx.number)
    chosen = next((port for port in rx if port.number == far_end), rx[0] if rx else None)
    return FlowEnds(
        tx,
        chosen.number if chosen else far_end,
        chosen.name if chosen and len(rx) == 1 else "",
        anywhere=len(rx) != 1,
    )


def _port(given: Given, field: str, name: str, ports: Mapping[str, OtgPort]) -> OtgPort:
    if name not in ports:
        raise given.refused(field, f"there is no port {name!r}", f"use one of {', '.join(ports)}")
    return ports[name]


def _device_ends(
    given: Given, ports: Mapping[str, OtgPort], interfaces: Sequence[Interface]
) -> list[FlowEnds]:
    found: dict[tuple[str, str], list[Pair]] = {}
    for pair in _pairs(given, interfaces):
        names = (pair.source.interface.port_name, pair.destination.interface.port_name)
        found.setdefault(names, []).append(pair)
    return [
        FlowEnds(
            _port(given, "tx_names", tx_name, ports),
            _port(given, "rx_names", rx_name, ports).number,
            rx_name,
            pairs=tuple(pairs),
        )
        for (tx_name, rx_name), pairs in found.items()
    ]


def _pairs(given: Given, interfaces: Sequence[Interface]) -> list[Pair]:
    known = endpoints_by_name(interfaces)
    sources, destinations = (
        [_endpoint(given, field, name, known) for name in given.names(field)]
        for field in ("tx_names", "rx_names")
    )
    if given.text("mode") == "one_to_one":
        if len(sources) != len(destinations):
            raise given.refused("rx_names", "one to one needs as many as tx_names")
        both = list(zip(sources, destinations, strict=True))
    else:
        both = [(source, destination) for source in sources for destination in destinations]
    if not 1 <= len(both) <= _MAX_PAIRS:
        raise given.refused("", f"{len(both)} pairs", f"give 1 to {_MAX_PAIRS}")
    return [_pair(given, source, destination, interfaces) for source, destination in both]


def _endpoint(
    given: Given, field: str, name: str, known: Mapping[str, FlowEndpoint]
) -> FlowEndpoint:
    if name not in known:
        raise given.refused(field, f"there is no device, interface or address {name!r}")
    return known[name]


def _pair(
    given: Given, source: FlowEndpoint, destination: FlowEndpoint, interfaces: Sequence[Interface]
) -> Pair:
    if source.address is None:
        return Pair(source, destination, destination.interface.mac)
    mac = neighbour_mac(source.address, interfaces)
    if mac is None:
        raise given.refused(
            "tx_names",
            f"the MAC of {source.address.gateway}, the gateway of {source.address.name}, is not "
            "known: no gateway is resolved",
            "give gateway_mac, or a device with that address",
        )
    return Pair(source, destination, mac)
