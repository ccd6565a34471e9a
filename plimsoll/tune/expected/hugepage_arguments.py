"""Hugepages on the kernel's command line, and those that it cannot set aside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.tune.expected.kernel_argument import KernelArgument
from plimsoll.tune.intent.hugepages import PAGE_BYTES, Hugepages, Pages


@dataclass(frozen=True, slots=True)
class NodePages:
    """Pages on one NUMA node, which a service sets aside early in the boot."""

    node: int
    page_kb: int
    count: int

    @property
    def sysfs(self) -> str:
        """The file that holds their number."""
        return (
            f"/sys/devices/system/node/node{self.node}/hugepages/"
            f"hugepages-{self.page_kb}kB/nr_hugepages"
        )

    @property
    def operator_unit(self) -> str:
        """The service by which the Node Tuning Operator does it."""
        return f"hugepages-allocation-{self.page_kb}kB-NUMA{self.node}.service"


def node_pages(hugepages: Hugepages | None) -> tuple[NodePages, ...]:
    """The pages that name a node, in the intent's order."""
    pages = hugepages.pages if hugepages else ()
    return tuple(
        NodePages(each.node, PAGE_BYTES[each.size] >> 10, each.count)
        for each in pages
        if each.node is not None
    )


def hugepage_arguments(hugepages: Hugepages | None, source: str) -> Iterator[KernelArgument]:
    """The default size, then each size and number that names no node.

    Where 1G is the default and 2M is expected on nodes alone, the kernel gets "hugepagesz=2M
    hugepages=0", or it would not make the files that the service writes to (the Node Tuning
    Operator's rule, commit d2394aa8, components/tuned/tuned.go).
    """
    if hugepages is None:
        return
    yield KernelArgument("default_hugepagesz", (hugepages.default_size,), source)
    for each in (*_spread(hugepages), *_made_known(hugepages)):
        yield KernelArgument("hugepagesz", (each[0],), source)
        yield KernelArgument("hugepages", (str(each[1]),), source)


def _spread(hugepages: Hugepages) -> list[tuple[str, int]]:
    return [(each.size, each.count) for each in hugepages.pages if each.node is None]


def _made_known(hugepages: Hugepages) -> list[tuple[str, int]]:
    def small(pages: Pages) -> bool:
        return pages.size == "2M"

    requested = [each for each in hugepages.pages if small(each)]
    on_nodes_alone = bool(requested) and all(each.node is not None for each in requested)
    return [("2M", 0)] if on_nodes_alone and hugepages.default_size == "1G" else []
