"""What is missing before a port can be used, in words; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.host.ports.netdevs import Netdev
from plimsoll.host.ports.pci_functions import PciFunction
from plimsoll.host.processes.privileges import missing_for_packet_sockets, missing_for_xdp

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
