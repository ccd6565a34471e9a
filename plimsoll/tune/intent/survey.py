"""What a proposal has to know of a host: CPUs, memory, page sizes and network ports."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.hugepage_pool import pools
from plimsoll.host.netdevs import Netdev, netdevs
from plimsoll.host.own_traffic import interfaces_in_use, read_routes
from plimsoll.host.pci_functions import PciFunction, pci_functions
from plimsoll.tune.intent.hugepages import PAGE_BYTES, PageSize
from plimsoll.tune.intent.topology import Read, Topology, read_topology


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


@dataclass(frozen=True)
class Survey:
    """`page_sizes` are those of hugepages that the kernel has; `virtual`: it is a guest."""

    topology: Topology
    ports: tuple[Port, ...]
    page_sizes: frozenset[PageSize]
    virtual: bool


def survey_host(root: Path = Path("/"), environment: Mapping[str, str] = os.environ) -> Survey:
    """Read the host whose /sys and /proc are below `root`, and change nothing.

    Raises MachineError where not even its CPUs can be read.
    """
    read = reader_below(root)
    sizes = {pool.page_kb * 1024 for pool in pools(root / "sys/kernel/mm/hugepages")}
    return Survey(
        topology=read_topology(read),
        ports=_ports(root, read, environment),
        page_sizes=frozenset(name for name, size in PAGE_BYTES.items() if size in sizes),
        virtual=_is_virtual(root, read),
    )


def reader_below(root: Path) -> Read:
    """The text of files by their absolute paths, looked for below `root`."""

    def read(path: str) -> str | None:
        try:
            return (root / path.lstrip("/")).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    return read


def _is_virtual(root: Path, read: Read) -> bool:
    """CPUID's hypervisor bit, which x86 kernels list as a flag; Xen also has a directory."""
    lines = (read("/proc/cpuinfo") or "").splitlines()
    flags = next((line for line in lines if line.startswith("flags")), "")
    return "hypervisor" in flags.split() or (root / "sys/hypervisor/type").exists()


def _ports(root: Path, read: Read, environment: Mapping[str, str]) -> tuple[Port, ...]:
    found = netdevs(root / "sys")
    in_use = interfaces_in_use(
        read_routes(root / "proc/net"), {each.name: each.masters for each in found}, environment
    )
    interfaces = {each.pci_address: each for each in found if each.pci_address}
    return tuple(
        _port(function, interfaces.get(function.address), in_use, read)
        for function in pci_functions(root / "sys")
        if not (root / "sys/bus/pci/devices" / function.address / "physfn").exists()
    )


def _port(
    function: PciFunction, netdev: Netdev | None, in_use: Mapping[str, str], read: Read
) -> Port:
    vfs = (read(f"/sys/bus/pci/devices/{function.address}/sriov_totalvfs") or "").strip()
    return Port(
        name=netdev.name if netdev else None,
        pci_address=function.address,
        vendor=function.id.partition(":")[0],
        driver=function.driver,
        numa_node=function.numa_node,
        iommu=function.iommu_group is not None,
        total_vfs=int(vfs) if vfs.isascii() and vfs.isdigit() else 0,
        speed_mbps=netdev.speed_mbps if netdev else None,
        in_use=in_use.get(netdev.name) if netdev else None,
    )
