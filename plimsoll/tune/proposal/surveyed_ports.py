"""A host's physical network ports, and which of them it lives by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.tune.host.ports.pcie_link import functions_on
from plimsoll.tune.host.ports.uplinks import UPLINK_LINKS, UPLINK_READS, uplinks
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.whole_number import whole_number

_NET = "/sys/class/net"
_PCI = "/sys/bus/pci/devices"
_ETHERNET = "1"  # ARPHRD_ETHER of linux/if_arp.h
# The class code's first byte for network controllers (PCI Code and ID Assignment, 1.4).
_NETWORK_CLASS = "0x02"

PORT_READS = (
    *UPLINK_READS,
    f"{_NET}/*/type",
    f"{_PCI}/*/class",
    f"{_PCI}/*/vendor",
    f"{_PCI}/*/numa_node",
    f"{_PCI}/*/sriov_totalvfs",
    # Not of all interfaces: those that are down refuse to tell, and a node has hundreds.
    f"{_PCI}/*/net/*/speed",
)
PORT_LINKS = (
    *UPLINK_LINKS,
    f"{_PCI}/*/driver",
    f"{_PCI}/*/iommu_group",
)


@dataclass(frozen=True, slots=True)
class SurveyedPort:
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


def survey_ports(view: HostView, environment: Mapping[str, str]) -> tuple[SurveyedPort, ...]:
    """All of them by address, VFs left out. Raises nothing for what cannot be read."""
    interfaces = _interfaces(view)
    in_use = uplinks(view, interfaces.values(), environment)
    return tuple(
        _port(view, address, interfaces.get(address), in_use)
        for address in view.listing(_PCI) or ()
        if (view.read(f"{_PCI}/{address}/class") or "").startswith(_NETWORK_CLASS)
        and view.link(f"{_PCI}/{address}/physfn") is None
    )


def ports_in_use(view: HostView) -> dict[str, str]:
    """Those that the host lives by, with the reason, by interface name and by PCI address.

    Empty where that is unknown; the session is that of a caller on the host itself.
    """
    used = dict(uplinks(view, (), view.session()))
    interfaces = _interfaces(view)
    return used | {each: used[name] for each, name in interfaces.items() if name in used}


def _port(
    view: HostView, address: str, interface: str | None, in_use: Mapping[str, str]
) -> SurveyedPort:
    place = f"{_PCI}/{address}"
    driver = view.link(f"{place}/driver")
    node = whole_number(view.read(f"{place}/numa_node"))
    speed = whole_number(view.read(f"{place}/net/{interface}/speed")) if interface else None
    return SurveyedPort(
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
