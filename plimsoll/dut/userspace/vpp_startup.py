"""What VPP is started with: its startup configuration, and the memory that this gives it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from plimsoll.dut.userspace.vpp_ports import VppPorts

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
