"""Every port of the machine, one entry each: what it is, whether it is free, what it lacks."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.ports.ethtool import HardwareStamps, driver_of, hardware_stamps_of
from plimsoll.host.ports.netdevs import SYS, Netdev, netdevs
from plimsoll.host.ports.own_traffic import interfaces_in_use, read_routes
from plimsoll.host.ports.pci_functions import PciFunction, pci_functions
from plimsoll.host.processes.privileges import (
    effective_capabilities,
    missing_for_packet_sockets,
    missing_for_xdp,
)

# Their DPDK drivers work alongside the kernel's, through its own interfaces: no vfio-pci.
_SHARED_WITH_KERNEL = frozenset({"mlx4_core", "mlx5_core", "mana"})
_TAKEN_BY_USER_SPACE = frozenset({"vfio-pci", "uio_pci_generic", "igb_uio"})


@dataclass(frozen=True, slots=True)
class HostAbilities:
    """What the machine and this process have that ports need.

    `vfio` is "loaded", "module" (modprobe would load it) or "absent". `hugepages` says
    whether any are reserved.
    """

    capabilities: frozenset[str]
    hugepages: bool
    vfio: str
    iommu: bool
    unsafe_noiommu: bool


def needs_as_netdev(netdev: Netdev, host: HostAbilities) -> tuple[str, ...]:
    """What `netdev: NAME` lacks."""
    return tuple(_netdev_needs(netdev, host))


def needs_as_pci(function: PciFunction, host: HostAbilities) -> tuple[str, ...]:
    """What `devargs: ADDRESS` lacks."""
    return tuple(_pci_needs(function, host))


def _netdev_needs(netdev: Netdev, host: HostAbilities) -> Iterator[str]:
    packet = missing_for_packet_sockets(host.capabilities)
    if packet:
        yield f"root, or {', '.join(packet)}"
    elif xdp := missing_for_xdp(host.capabilities):
        yield f"for AF_XDP root, or {', '.join(xdp)}"
    if netdev.masters:
        yield f"it is a member of {', '.join(netdev.masters)}: ip link set {netdev.name} nomaster"
    if not netdev.up:
        yield f"it is down: ip link set {netdev.name} up"
    elif not netdev.carrier:
        yield "no carrier: check its cable and the other end"


def is_open_to_dpdk(driver: str | None) -> bool:
    """Whether the driver of a card leaves it to user space, or shares it."""
    return driver in _TAKEN_BY_USER_SPACE | _SHARED_WITH_KERNEL


def is_of_user_space(driver: str | None) -> bool:
    """Whether the driver does nothing but leave the card to a process."""
    return driver in _TAKEN_BY_USER_SPACE


def is_shared_with_kernel(driver: str | None) -> bool:
    """Whether DPDK's driver of the card works through the kernel's."""
    return driver in _SHARED_WITH_KERNEL


def _pci_needs(function: PciFunction, host: HostAbilities) -> Iterator[str]:
    if not is_open_to_dpdk(function.driver):
        yield from vfio_needs(host)
        yield f"vfio-pci is not bound: plimsoll ports bind {function.address}"
    if not host.hugepages:
        yield "no hugepages are reserved: a run reserves them as root"
    if "CAP_SYS_ADMIN" not in host.capabilities:
        yield "root"


def vfio_needs(host: HostAbilities) -> Iterator[str]:
    """What keeps vfio-pci from any card of this machine."""
    if host.vfio == "absent":
        yield "this kernel has no vfio-pci"
    elif host.vfio == "module":
        yield "vfio-pci is not loaded: modprobe vfio-pci"
    if not host.iommu and not host.unsafe_noiommu:
        yield "no IOMMU is active: intel_iommu=on or amd_iommu=on on the kernel's command line"


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
