"""The hugepages of each NUMA node: how many there are, and how many are free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.whole_number import whole_number

_NODES = "/sys/devices/system/node"
_ALL = "/sys/kernel/mm/hugepages"
POOL_READS = tuple(
    f"{folder}/hugepages-[0-9]*/{name}"
    for folder in (f"{_NODES}/node[0-9]*/hugepages", _ALL)
    for name in ("nr_hugepages", "free_hugepages")
)


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
