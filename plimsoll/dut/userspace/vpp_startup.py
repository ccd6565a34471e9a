"""What VPP is started with: its configuration, its memory, and its two ports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from plimsoll.dut.two_ports import PORTS

# Number 0 is VPP's own, at a path of its choice. It names interfaces by both numbers.
_SOCKET_ID = 1
# Of L3: memif's by default, a card's at least; and what a frame has around it, FCS included.
_MEMIF_MTU, _CARD_MTU = 9000, 1500
_FRAMING_BYTES = 18

VppCommand = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VppPorts(ABC):
    """For frames of up to `frame_size` bytes with FCS, with the MAC addresses `macs`."""

    frame_size: int
    macs: tuple[str, ...]

    # As VPP lists its interfaces.
    names: ClassVar[tuple[str, ...]]
    # That drives them, and the package that has it.
    plugin: ClassVar[str]
    package: ClassVar[str]
    # Of 2 MB, that the plugin wants free on each memory node.
    hugepages: ClassVar[int]
    # Whether VPP lists them as it comes up; else `commands` makes them.
    opened_at_start: ClassVar[bool]

    @abstractmethod
    def sections(self, *, huge: bool) -> dict[str, str]:
        """Of the startup configuration; `huge` is whether there are hugepages."""

    @abstractmethod
    def commands(self) -> Iterator[VppCommand]:
        """The commands that set them and bring them up."""

    @property
    def _mtu(self) -> int:
        """What L3 has of the longest frame, in bytes."""
        return self.frame_size - _FRAMING_BYTES


@dataclass(frozen=True, slots=True)
class VppMemifPorts(VppPorts):
    """Two connections by one socket, with rings of `ring_frames` and buffers of `buffer_bytes`."""

    socket: Path
    ring_frames: int
    buffer_bytes: int

    names = tuple(f"memif{_SOCKET_ID}/{port}" for port in PORTS)
    plugin = "memif_plugin.so"
    package = "vpp-plugin-core"
    hugepages = 0
    opened_at_start = False

    def sections(self, *, huge: bool) -> dict[str, str]:
        """None."""
        return {}

    def commands(self) -> Iterator[VppCommand]:
        """First the socket, whose server VPP is."""
        socket_id = ("socket-id", str(_SOCKET_ID))
        yield ("create", "memif", "socket", "id", str(_SOCKET_ID), "filename", str(self.socket))
        for port, name in enumerate(self.names):
            buffers = ("ring-size", str(self.ring_frames), "buffer-size", str(self.buffer_bytes))
            yield (
                *("create", "interface", "memif", "id", str(port), *socket_id, "master"),
                *(*buffers, "hw-addr", self.macs[port]),
            )
            yield ("set", "interface", "mtu", "packet", str(max(_MEMIF_MTU, self._mtu)), name)
            yield ("set", "interface", "state", name, "up")


@dataclass(frozen=True, slots=True)
class VppCardPorts(VppPorts):
    """Cards by their PCI addresses, which VPP's DPDK opens."""

    addresses: tuple[str, ...]

    names = tuple(f"port{port}" for port in PORTS)
    plugin = "dpdk_plugin.so"
    package = "vpp-plugin-dpdk"
    # dpdk_config of dpdk/device/init.c.
    hugepages = 8
    opened_at_start = True

    def sections(self, *, huge: bool) -> dict[str, str]:
        """These cards and no others, each with one queue, which the worker polls.

        A driver is named so that VPP as root looks for none, which might turn on vfio's mode
        without IOMMU; it leaves a card that a driver for user space has already.
        """
        devices = (
            f"dev {address} {{ name {name} num-rx-queues 1 }}"
            for address, name in zip(self.addresses, self.names, strict=True)
        )
        ordinary = () if huge else ("no-hugetlb", "no-shconf")
        return {"dpdk": " ".join((*devices, "uio-driver vfio-pci", *ordinary))}

    def commands(self) -> Iterator[VppCommand]:
        """The MTU is the card's own, so that one that takes no such frames is refused."""
        for name, mac in zip(self.names, self.macs, strict=True):
            yield ("set", "interface", "mac", "address", name, mac)
            yield ("set", "interface", "mtu", str(max(_CARD_MTU, self._mtu)), name)
            yield ("set", "interface", "state", name, "up")


_SYSFS = Path("/sys/devices/system")
# VPP's own defaults (vlib/buffer.h, vlib/buffer.c), stated so that nothing else decides.
_BUFFERS = 16384
_DATA_BYTES = 2048
# Of a buffer with what precedes its data, which with cards is an mbuf as well; without 2304 (`show
# buffers` of v26.06). None crosses a page, so of ordinary ones there are fewer: 11956 without.
_BUFFER_BYTES = 2496
_HUGEPAGE_BYTES = 2 << 20
HUGEPAGES = -(-_BUFFERS // (_HUGEPAGE_BYTES // _BUFFER_BYTES))
# Of ordinary pages, which it takes as it needs them. Measured with v26.06: up to 92 MB of heap with
# 100,000 routes, which in the statistics take 10 MB.
_HEAP_MEGABYTES = 256
_STATISTICS_MEGABYTES = 64
# For the binary API: it is not used here, and cannot be turned off.
_API_REGION_MEGABYTES, _API_MEGABYTES = 16, 4
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where shm_open puts its files
_API_FILES = ("global_vm", "vpe-api")


@dataclass(frozen=True, slots=True)
class VppStartup:
    """One VPP: its files lie in `directory`, its workers' loop polls `cpu`.

    `api_prefix` names its shared memory, which would else be that of any other VPP here.
    """

    directory: Path
    cpu: int
    main_cpu: int
    huge: bool
    api_prefix: str
    ports: VppPorts

    @property
    def cli_socket(self) -> Path:
        """Where vppctl finds it."""
        return self.directory / "cli.sock"

    @property
    def shared_files(self) -> tuple[Path, ...]:
        """What it makes outside of its directory, and leaves behind when it is killed."""
        return tuple(_SHARED_MEMORY / f"{self.api_prefix}-{name}" for name in _API_FILES)

    def text(self, sysfs: Path = _SYSFS) -> str:
        """The configuration, a section a line. No part of it listens on a network."""
        nodes = memory_nodes(sysfs) - {node_of(self.cpu, sysfs)}
        elsewhere = "".join(f" numa {node} {{ buffers 0 }}" for node in sorted(nodes))
        sections = {
            "unix": "nodaemon nosyslog nocolor nobanner cli-no-pager "
            f"cli-listen {self.cli_socket} runtime-dir {self.directory}",
            "cpu": f"main-core {self.main_cpu} corelist-workers {self.cpu}",
            "memory": f"main-heap-size {_HEAP_MEGABYTES}M",
            "buffers": f"buffers-per-numa {_BUFFERS} default data-size {_DATA_BYTES} "
            f"page-size {'2M' if self.huge else '4K'}{elsewhere}",
            "statseg": f"size {_STATISTICS_MEGABYTES}M",
            "api-segment": f"prefix {self.api_prefix} global-size {_API_REGION_MEGABYTES}M "
            f"api-size {_API_MEGABYTES}M",
            "plugins": f"plugin default {{ disable }} plugin {self.ports.plugin} {{ enable }}",
            **self.ports.sections(huge=self.huge),
        }
        return "".join(f"{name} {{ {words} }}\n" for name, words in sections.items())


def main_cpu(cpu: int, allowed: Collection[int]) -> int | None:
    """Where VPP's main thread starts: the first CPU that is not its worker's; None without one."""
    return min(set(allowed) - {cpu}, default=None)


def hugepages_suffice(cpu: int, of_each_node: int, sysfs: Path = _SYSFS) -> bool:
    """Whether the CPU's own memory node has the pages free that the buffers take.

    On every node VPP wants `of_each_node` free in addition. Where there are too few, VPP as root
    adds some to the kernel's pool, and never gives them back.
    """
    needed = dict.fromkeys(memory_nodes(sysfs), of_each_node)
    own = node_of(cpu, sysfs)
    needed[own] = of_each_node + HUGEPAGES
    return all(_free_hugepages(node, sysfs) >= pages for node, pages in needed.items() if pages)


def node_of(cpu: int, sysfs: Path) -> int:
    """The memory node of a CPU; 0 where the kernel tells none."""
    return min(_numbers(sysfs / f"cpu/cpu{cpu}"), default=0)


def memory_nodes(sysfs: Path) -> set[int]:
    """All of this machine's."""
    return set(_numbers(sysfs / "node"))


def _free_hugepages(node: int, sysfs: Path) -> int:
    """Of 2 MB."""
    path = sysfs / f"node/node{node}/hugepages/hugepages-2048kB/free_hugepages"
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0


def _numbers(folder: Path) -> list[int]:
    found = (path.name.removeprefix("node") for path in folder.glob("node[0-9]*"))
    return [int(name) for name in found if name.isdecimal()]
