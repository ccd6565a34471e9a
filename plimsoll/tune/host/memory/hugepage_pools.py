"""The hugepages of each NUMA node: how many there are, and how many are free."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.tune.host.cpus.threads import THREAD_READS, read_processes
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import whole_number

_NODES = "/sys/devices/system/node"
_ALL = "/sys/kernel/mm/hugepages"
POOL_READS = tuple(
    f"{folder}/hugepages-[0-9]*/{name}"
    for folder in (f"{_NODES}/node[0-9]*/hugepages", _ALL)
    for name in ("nr_hugepages", "free_hugepages")
)
HOLDER_READS = THREAD_READS
# proc_pid_status(5), since Linux 4.4: of all sizes and nodes, shared mappings too.
_MAPPED = re.compile(r"^HugetlbPages:\s+(\d{1,12}) kB$", re.ASCII | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NodePool:
    """Pages of `page_kb` on `node`; a kernel without NUMA has all on node 0."""

    node: int
    page_kb: int
    total: int
    free: int
    path: str


def read_pools(view: HostView, nodes: Iterator[int] | tuple[int, ...]) -> tuple[NodePool, ...]:
    """The pools of `nodes`, by node and size; none without hugepages. Raises CannotRead."""
    found = [
        pool for node in nodes for pool in _pools(view, node, f"{_NODES}/node{node}/hugepages")
    ]
    return tuple(found or _pools(view, 0, _ALL))


def _pools(view: HostView, node: int, folder: str) -> Iterator[NodePool]:
    for name in view.find_names(folder):
        size = whole_number(name.removeprefix("hugepages-").removesuffix("kB"))
        total = whole_number(view.find(f"{folder}/{name}/nr_hugepages"))
        free = whole_number(view.find(f"{folder}/{name}/free_hugepages"))
        if size is not None and total is not None and free is not None:
            yield NodePool(node, size, total, free, f"{folder}/{name}")


# Who has hugepages mapped, as far as procfs tells everybody.
@dataclass(frozen=True, slots=True)
class Holder:
    """A process with `kib` of hugepages in its page tables."""

    pid: int
    comm: str
    kib: int


def read_holders(view: HostView) -> tuple[Holder, ...]:
    """The largest first. Raises CannotRead where not all processes can be seen."""
    found: list[Holder] = []
    for process in read_processes(view):
        text = view.read(f"/proc/{process.pid}/task/{process.pid}/status") or ""
        mapped = _MAPPED.search(text)
        if mapped and int(mapped[1]):
            found.append(Holder(process.pid, process.comm, int(mapped[1])))
    return tuple(sorted(found, key=lambda each: (-each.kib, each.pid)))
