"""Every port of the machine, one entry each: what it is, whether it is free, what it lacks."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.ports.ethtool import HardwareStamps, driver_of, hardware_stamps_of
from plimsoll.host.ports.netdevs import SYS, Netdev, netdevs
from plimsoll.host.ports.own_traffic import interfaces_in_use, read_routes
from plimsoll.host.ports.pci_functions import PciFunction, pci_functions
from plimsoll.host.ports.port_needs import HostAbilities, needs_as_netdev, needs_as_pci
from plimsoll.host.processes.privileges import effective_capabilities


@dataclass(frozen=True, slots=True)
class MachinePort:
    """One port.

    `link` is "up", "no carrier" or "down" by the kernel, None where it has no interface.
    `in_use` says why tests must leave it alone. `netdev_needs` and `pci_needs` are what
    is missing before it can be used by the kernel or past it; None where it has no such
    side, empty where nothing is missing.
    """

    name: str | None
    pci_address: str | None
    kind: str
    driver: str | None
    numa_node: int | None
    mac: str | None
    link: str | None
    speed_mbps: int | None
    rx_queues: int | None
    tx_queues: int | None
    stamps: HardwareStamps | None
    in_use: str | None
    netdev_needs: tuple[str, ...] | None
    pci_needs: tuple[str, ...] | None


def machine_ports(
    sys: Path = SYS,
    proc_net: Path = Path("/proc/net"),
    *,
    abilities: HostAbilities | None = None,
    environment: Mapping[str, str] = os.environ,
    driver: Callable[[str], str | None] = driver_of,
    stamps: Callable[[str], HardwareStamps | None] = hardware_stamps_of,
) -> tuple[MachinePort, ...]:
    """The machine's ports: cards by their PCI addresses first, then all other interfaces."""
    host = abilities or host_abilities(sys)
    functions = {function.address: function for function in pci_functions(sys)}
    found = netdevs(sys)
    in_use = interfaces_in_use(
        read_routes(proc_net), {each.name: each.masters for each in found}, environment
    )
    with_interface = [
        _port(
            each,
            functions.get(each.pci_address or ""),
            host,
            in_use=in_use.get(each.name),
            driver=driver,
            stamps=stamps,
        )
        for each in found
    ]
    shown = {port.pci_address for port in with_interface}
    alone = [_bare(each, host) for each in functions.values() if each.address not in shown]
    return tuple(
        sorted(
            (*with_interface, *alone),
            key=lambda port: (port.pci_address is None, port.pci_address or "", port.name or ""),
        )
    )


def host_abilities(
    sys: Path = SYS, modules: Path = Path("/lib/modules"), release: str = platform.release()
) -> HostAbilities:
    """What this machine and process have."""
    noiommu = sys / "module/vfio/parameters/enable_unsafe_noiommu_mode"
    return HostAbilities(
        capabilities=effective_capabilities(),
        hugepages=any(
            path.read_text().strip() != "0"
            for path in (sys / "kernel/mm/hugepages").glob("*/nr_hugepages")
        ),
        vfio=_vfio(sys, modules / release),
        iommu=any((sys / "kernel/iommu_groups").glob("*")),
        unsafe_noiommu=noiommu.exists() and noiommu.read_text().strip() == "Y",
    )


def _vfio(sys: Path, modules: Path) -> str:
    if (sys / "bus/pci/drivers/vfio-pci").is_dir():
        return "loaded"
    for listing in ("modules.dep", "modules.builtin"):
        path = modules / listing
        if path.exists() and "/vfio-pci.ko" in path.read_text():
            return "module"
    return "absent"


def _port(
    netdev: Netdev,
    function: PciFunction | None,
    host: HostAbilities,
    *,
    in_use: str | None,
    driver: Callable[[str], str | None],
    stamps: Callable[[str], HardwareStamps | None],
) -> MachinePort:
    known_driver = netdev.driver or driver(netdev.name)
    return MachinePort(
        name=netdev.name,
        pci_address=netdev.pci_address,
        # Of a virtual interface its driver says more than sysfs: "veth", "ifb".
        kind=known_driver or netdev.kind if netdev.kind == "virtual" else netdev.kind,
        driver=known_driver,
        numa_node=netdev.numa_node,
        mac=netdev.mac,
        link=_link(netdev),
        speed_mbps=netdev.speed_mbps,
        rx_queues=netdev.rx_queues,
        tx_queues=netdev.tx_queues,
        stamps=stamps(netdev.name),
        in_use=in_use,
        netdev_needs=needs_as_netdev(netdev, host),
        pci_needs=needs_as_pci(function, host) if function else None,
    )


def _bare(function: PciFunction, host: HostAbilities) -> MachinePort:
    """A card without an interface: its driver is another, or none."""
    return MachinePort(
        name=None,
        pci_address=function.address,
        kind="pci",
        driver=function.driver,
        numa_node=function.numa_node,
        mac=None,
        link=None,
        speed_mbps=None,
        rx_queues=None,
        tx_queues=None,
        stamps=None,
        in_use=None,
        netdev_needs=None,
        pci_needs=needs_as_pci(function, host),
    )


def _link(netdev: Netdev) -> str:
    if not netdev.up:
        return "down"
    return "up" if netdev.carrier else "no carrier"
