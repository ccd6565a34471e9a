"""From which port to which a flow goes, and between which addresses of devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.remote.otg.flows.device import (
    FlowEndpoint,
    Interface,
    endpoints_by_name,
    neighbour_mac,
)
from plimsoll.remote.otg.flows.port import OtgPort, Tester
from plimsoll.remote.otg.model.given import Given

_MOST_PAIRS = 4096


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
    if not 1 <= len(both) <= _MOST_PAIRS:
        raise given.refused("", f"{len(both)} pairs", f"give 1 to {_MOST_PAIRS}")
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
