"""The hugepages of a proposal: those that a host has already, or a share of its memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.text.counted import counted
from plimsoll.tune.fit.topology import Topology
from plimsoll.tune.host.memory.hugepage_pools import NodePool
from plimsoll.tune.intent.hugepages import PAGE_BYTES, PageSize
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.proposal.survey import Survey

# Of each node's memory, and at most so much: the article with TRex sets 16 GiB aside on a
# host of two nodes, Telco Core RDS far more for many pods; what DPDK maps itself is a few GiB.
_MEMORY_SHARE = 4
_MAX_BYTES = 16 << 30
# The largest that fits, where the preset's own does not.
_USEFUL_SIZES: tuple[PageSize, ...] = ("1G", "512M", "32M", "2M")
_SIZE_OF_KB = {page >> 10: size for size, page in PAGE_BYTES.items()}
_YOURS = "Set what your application and its peers on the host map."


@dataclass(frozen=True)
class ProposedPages:
    """`entries` are those of hugepages.pages, none where `default_size` is None.

    `reason` is a sentence or two about how they came about.
    """

    entries: Sequence[dict[str, Any]] = ()
    default_size: PageSize | None = None
    reason: str = ""

    @property
    def section(self) -> dict[str, Any] | None:
        """The intent's hugepages; None without any."""
        if self.default_size is None:
            return None
        return {"default_size": self.default_size, "pages": list(self.entries)}

    @property
    def total_bytes(self) -> int:
        """Of all sizes, on all nodes."""
        return sum(PAGE_BYTES[each["size"]] * int(each["count"]) for each in self.entries)

    def on_node(self, node: int) -> int:
        """How many of the default size are there, those that name no node among them."""
        return sum(
            int(each["count"])
            for each in self.entries
            if each["size"] == self.default_size and each.get("node", node) == node
        )


def propose_pages(survey: Survey, base: Intent) -> ProposedPages:
    """What is set aside already, where it serves, else a share in pages of the preset's size."""
    return _set_aside(survey) or _share(survey, base)


def _set_aside(survey: Survey) -> ProposedPages | None:
    """Where every node with CPUs and memory has some of one size, which is then the default."""
    topology = survey.topology
    nodes = _nodes(topology)
    pools = [
        pool
        for pool in survey.pools
        if pool.total and pool.page_kb in _SIZE_OF_KB and pool.node in nodes
    ]
    everywhere = [
        size
        for kb, size in _SIZE_OF_KB.items()
        if nodes <= {p.node for p in pools if p.page_kb == kb}
    ]
    if not pools or not everywhere or not _fit(topology, pools):
        return None
    default, largest = survey.default_page_size, max(everywhere, key=PAGE_BYTES.__getitem__)
    message = ", ".join(
        f"{counted(pool.total, 'page')} of {_SIZE_OF_KB[pool.page_kb]} on node {pool.node}"
        for pool in pools
    )
    return ProposedPages(
        [_entry(topology, _SIZE_OF_KB[each.page_kb], each.total, each.node) for each in pools],
        default if default in everywhere else largest,
        f"What is set aside there already ({message}). {_YOURS}",
    )


def _fit(topology: Topology, pools: Sequence[NodePool]) -> bool:
    """A capture may tell of more pages than memory."""
    taken = dict.fromkeys(_nodes(topology), 0)
    for pool in pools:
        taken[pool.node] += pool.total * pool.page_kb
    return all(size < topology.memory_kb[node] for node, size in taken.items())


def _share(survey: Survey, base: Intent) -> ProposedPages:
    """None where no size fits each node's share."""
    topology = survey.topology
    shares = {
        node: min(topology.memory_kb[node] * 1024 // _MEMORY_SHARE, _MAX_BYTES)
        for node in sorted(_nodes(topology))
    }
    own = (base.hugepages.default_size,) if base.hugepages else ()
    for size in (*own, *_USEFUL_SIZES):
        page = PAGE_BYTES[size]
        if size in survey.page_sizes and shares and min(shares.values()) >= page:
            entries = [
                _entry(topology, size, share // page, node) for node, share in shares.items()
            ]
            return ProposedPages(entries, size, _reason(topology))
    return ProposedPages()


def _nodes(topology: Topology) -> frozenset[int]:
    """Memory without CPUs is far from all of them, and CPUs without memory have no pages."""
    return frozenset(
        node for node, cpus in topology.nodes.items() if cpus and topology.memory_kb.get(node)
    )


def _entry(topology: Topology, size: PageSize, count: int, node: int) -> dict[str, Any]:
    named = {"node": node} if len(topology.nodes) > 1 else {}
    return {"size": size, "count": count} | named


def _reason(topology: Topology) -> str:
    memory = ", ".join(
        f"node {node} has {kb / 2**20:.1f} GiB" for node, kb in topology.memory_kb.items()
    )
    return (
        f"A quarter of each node's memory, at most {_MAX_BYTES >> 30} GiB of each "
        f"({memory}). {_YOURS}"
    )
