"""What a proposal has to know of a host: CPUs, memory, page sizes and network ports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.tune.fit.topology import Topology, read_topology
from plimsoll.tune.host.boot.operating_system import CPUINFO, is_virtual_machine
from plimsoll.tune.host.memory.hugepage_pools import POOL_READS, NodePool, read_pools
from plimsoll.tune.host.ports.pcie_link import functions_on
from plimsoll.tune.host.ports.uplinks import UPLINK_LINKS, UPLINK_READS, uplinks
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, whole_number
from plimsoll.tune.intent.hugepages import PAGE_BYTES, PageSize

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


_POOLS = "/sys/kernel/mm/hugepages"
_MEMINFO = "/proc/meminfo"
_DEFAULT_SIZE = re.compile(r"^Hugepagesize:\s+(\d{1,12}) kB$", re.ASCII | re.MULTILINE)
_XEN = "/sys/hypervisor/type"
# What a capture has to hold for it, in addition to what read_topology reads.
SURVEY_READS = (CPUINFO, _XEN, _MEMINFO, *POOL_READS, *PORT_READS)
SURVEY_LINKS = PORT_LINKS


@dataclass(frozen=True)
class Survey:
    """`page_sizes` are those of hugepages that the kernel has; `virtual`: it is a guest.

    `pools` are the pages set aside, `default_page_size` is that of who names no size; the
    one is empty and the other None where they cannot be read.
    `where` names the host in a sentence; `sessions_known`: a port that carried the caller's
    session would be in use.
    """

    topology: Topology
    ports: tuple[SurveyedPort, ...]
    page_sizes: frozenset[PageSize]
    virtual: bool
    where: str = "this host"
    sessions_known: bool = True
    pools: tuple[NodePool, ...] = ()
    default_page_size: PageSize | None = None


def survey_host(view: HostView, environment: Mapping[str, str] | None = None) -> Survey:
    """Read what `view` shows, live or captured, and change nothing.

    `environment` is that of a caller on the host itself, else None: it identifies the
    port of an SSH session. Raises MachineError where not even the host's CPUs can be read.
    """
    topology = read_topology(view.read)
    return Survey(
        topology=topology,
        ports=survey_ports(view, environment or {}),
        page_sizes=_page_sizes(view),
        virtual=_is_virtual(view),
        where=view.where,
        sessions_known=environment is not None,
        pools=_pools(view, topology),
        default_page_size=_default_page_size(view),
    )


def _page_sizes(view: HostView) -> frozenset[PageSize]:
    names = view.listing(_POOLS) or ()
    return frozenset(
        size for size, page in PAGE_BYTES.items() if f"hugepages-{page >> 10}kB" in names
    )


def _pools(view: HostView, topology: Topology) -> tuple[NodePool, ...]:
    try:
        return read_pools(view, tuple(topology.nodes))
    except CannotRead:
        return ()


def _default_page_size(view: HostView) -> PageSize | None:
    found = _DEFAULT_SIZE.search(view.read(_MEMINFO) or "")
    sizes = {page >> 10: size for size, page in PAGE_BYTES.items()}
    return sizes.get(int(found[1])) if found else None


def _is_virtual(view: HostView) -> bool:
    """Xen's guests without the flag have a directory; who shows neither counts as a machine."""
    try:
        return is_virtual_machine(view) or view.read(_XEN) is not None
    except CannotRead:
        return False
