"""A host's physical network ports, and which of them it lives by."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from plimsoll.host.own_traffic import interfaces_in_use, routes_of
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.own_routes import ROUTES, ROUTES_6
from plimsoll.tune.host.pci_path import functions_on
from plimsoll.tune.host.whole_number import whole_number

_NET = "/sys/class/net"
_PCI = "/sys/bus/pci/devices"
_ETHERNET = "1"  # ARPHRD_ETHER of linux/if_arp.h
# The class code's first byte for network controllers (PCI Code and ID Assignment, 1.4).
_NETWORK_CLASS = "0x02"
_UPPER = "upper_"

PORT_READS = (
    ROUTES,
    ROUTES_6,
    f"{_NET}/*/type",
    f"{_PCI}/*/class",
    f"{_PCI}/*/vendor",
    f"{_PCI}/*/numa_node",
    f"{_PCI}/*/sriov_totalvfs",
    # Not of all interfaces: those that are down refuse to tell, and a node has hundreds.
    f"{_PCI}/*/net/*/speed",
)
PORT_LINKS = (
    f"{_NET}/*",
    f"{_NET}/*/{_UPPER}*",
    f"{_PCI}/*/driver",
    f"{_PCI}/*/physfn",
    f"{_PCI}/*/iommu_group",
)


@dataclass(frozen=True, slots=True)
class Port:
    """One physical PCI network function; `name` is its interface's, None where it has none.

    `in_use` says why it must be left alone. `total_vfs` is the most it can be divided into.
    """

    name: str | None
    pci_address: str
    vendor: str
    driver: str | None
    numa_node: int | None
    iommu: bool
    total_vfs: int
    speed_mbps: int | None
    in_use: str | None


def survey_ports(view: HostView, environment: Mapping[str, str]) -> tuple[Port, ...]:
    """All of them by address, VFs left out. Raises nothing for what cannot be read."""
    interfaces = _interfaces(view)
    in_use = _in_use(view, interfaces.values(), environment)
    return tuple(
        _port(view, address, interfaces.get(address), in_use)
        for address in view.listing(_PCI) or ()
        if (view.read(f"{_PCI}/{address}/class") or "").startswith(_NETWORK_CLASS)
        and view.link(f"{_PCI}/{address}/physfn") is None
    )


def _port(view: HostView, address: str, interface: str | None, in_use: Mapping[str, str]) -> Port:
    place = f"{_PCI}/{address}"
    driver = view.link(f"{place}/driver")
    node = whole_number(view.read(f"{place}/numa_node"))
    speed = whole_number(view.read(f"{place}/net/{interface}/speed")) if interface else None
    return Port(
        name=interface,
        pci_address=address,
        vendor=(view.read(f"{place}/vendor") or "").removeprefix("0x"),
        driver=driver.rpartition("/")[2] if driver else None,
        # The kernel's -1 is: the platform's tables do not say.
        numa_node=node if node is not None and node >= 0 else None,
        iommu=view.link(f"{place}/iommu_group") is not None,
        total_vfs=max(0, whole_number(view.read(f"{place}/sriov_totalvfs")) or 0),
        speed_mbps=speed if speed is not None and speed > 0 else None,
        in_use=in_use.get(interface) if interface else None,
    )


def _interfaces(view: HostView) -> dict[str, str]:
    """The Ethernet interface of each PCI function that has one; virtio's lies deeper below it."""
    found: dict[str, str] = {}
    for name in view.listing(_NET) or ():
        functions = functions_on(view.link(f"{_NET}/{name}") or "")
        if functions and view.read(f"{_NET}/{name}/type") == _ETHERNET:
            found[functions[-1]] = name
    return found


def _in_use(
    view: HostView, interfaces: Collection[str], environment: Mapping[str, str]
) -> Mapping[str, str]:
    """The interfaces that tests must leave alone, with the reason; all where nobody knows."""
    reason = "nobody knows whether the host's own traffic takes it: "
    unknown = view.why_not(ROUTES)
    if unknown is not None:
        return dict.fromkeys(interfaces, f"{reason}{unknown}")
    try:
        routes = routes_of(_lines(view, ROUTES), _lines(view, ROUTES_6))
    except (ValueError, struct.error):
        # A capture may hold anything.
        return dict.fromkeys(
            interfaces, f"{reason}{ROUTES} has no routes as the kernel writes them"
        )
    masters = {name: _built_upon(view, name) for name in view.listing(_NET) or ()}
    return interfaces_in_use(routes, masters, environment)


def _built_upon(view: HostView, name: str) -> tuple[str, ...]:
    """The bridges, bonds and the like that have the interface below them."""
    names = view.listing(f"{_NET}/{name}") or ()
    return tuple(each.removeprefix(_UPPER) for each in names if each.startswith(_UPPER))


def _lines(view: HostView, path: str) -> list[str]:
    # A kernel without IPv6 has no such file.
    return (view.read(path) or "").splitlines()
