"""One argument of the kernel's command line as an intent implies it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from plimsoll.tune.intent.hugepages import PAGE_BYTES, Hugepages, Pages

# The makers whose processors the Node Tuning Operator has a profile of its own for.
Vendor = Literal["intel", "amd", "arm"]

# Each hugepages= counts the size of the hugepagesz= before it, and every console= is one.
_MANY = frozenset({"hugepagesz", "hugepages", "console"})


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """`values` are those any of which is right; None is a name that stands alone.

    More than one where it depends on what an intent does not say, such as the generation
    of the processor. `source` is what puts the argument there; not `required` is one that
    some releases of it put there and others do not.
    """

    name: str
    values: tuple[str | None, ...]
    source: str
    required: bool = True

    @property
    def text(self) -> str:
        """As on the command line; the values that are possible with a bar between them."""
        message = "|".join(value or "" for value in self.values)
        return f"{self.name}={message}" if self.values != (None,) else self.name

    @property
    def words(self) -> tuple[str, ...]:
        """As on the command line, with each of the values that are possible."""
        return tuple(self.name if each is None else f"{self.name}={each}" for each in self.values)


def arguments_of(text: str, source: str, *, required: bool = True) -> Iterator[KernelArgument]:
    """The arguments of a piece of command line, each with its one value."""
    for word in text.split():
        name, equals, value = word.partition("=")
        yield KernelArgument(name, (value if equals else None,), source, required)


def last_of_each(arguments: Iterable[KernelArgument]) -> tuple[KernelArgument, ...]:
    """Without those that a later one of the same name overrides, as the kernel reads them."""
    kept: list[KernelArgument] = []
    seen: set[str] = set()
    for each in reversed(list(arguments)):
        # The kernel takes "-" and "_" in names for the same.
        name = each.name.replace("-", "_")
        if name in seen and name not in _MANY:
            continue
        seen.add(name)
        kept.append(each)
    return tuple(reversed(kept))


def command_line(arguments: Iterable[KernelArgument]) -> str:
    """One line of them all, in brackets those that only some releases have."""
    return " ".join(each.text if each.required else f"[{each.text}]" for each in arguments)


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
