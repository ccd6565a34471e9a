"""31: whether the intent's hugepages are there, and some are free where the NIC is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plimsoll.errors import MachineError
from plimsoll.tune.audit.boot_arguments import add_at_boot
from plimsoll.tune.audit.check import TOPOLOGY, TOPOLOGY_LINKS, Check
from plimsoll.tune.audit.finding import (
    Judgement,
    Reading,
    Step,
    advice,
    fail,
    not_applicable,
    ok,
    unknown,
    warn,
    worst_of,
    write,
)
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.hugepage_pools import POOL_READS, NodePool, read_pools
from plimsoll.tune.intent.hugepages import PAGE_BYTES, Hugepages, Pages, PageSize
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.topology import Topology, ports_of, read_topology

_MEMINFO = "/proc/meminfo"
_DEFAULT = re.compile(r"^Hugepagesize:\s+(\d{1,12}) kB$", re.ASCII | re.MULTILINE)


def _judge(view: HostView, intent: Intent) -> Judgement:
    wanted = intent.hugepages
    if wanted is None:
        return not_applicable("the intent asks for no hugepages")
    try:
        topology = read_topology(view.read, ports_of(intent), view.link)
    except MachineError as error:
        return unknown(f"{error.where}: {error.message}")
    pools = read_pools(view, tuple(sorted(topology.nodes)))
    return worst_of(
        (
            *_set_aside(intent, wanted, pools),
            *_default_size(view, intent, wanted),
            *_free(intent, wanted, topology, pools),
        )
    )


def _set_aside(
    intent: Intent, wanted: Hugepages, pools: tuple[NodePool, ...]
) -> Iterator[Judgement]:
    for pages in wanted.pages:
        found = [pool for pool in pools if pool.page_kb == _page_kb(pages.size)]
        here = [pool for pool in found if pages.node in (None, pool.node)]
        total = sum(pool.total for pool in here)
        place = "" if pages.node is None else f" on node {pages.node}"
        wish = f"{pages.count} hugepages of {pages.size}{place}"
        read = tuple(Reading(f"{pool.path}/nr_hugepages", str(pool.total)) for pool in here)
        if total >= pages.count:
            yield ok(f"{total} hugepages of {pages.size}{place}", *read, wanted=wish)
        else:
            told = f"{total} hugepages of {pages.size}{place}, and {pages.count} are wanted"
            yield fail(told, *read, wanted=wish, steps=[_more(intent, pages, here)])


def _default_size(view: HostView, intent: Intent, wanted: Hugepages) -> Iterator[Judgement]:
    """What a program gets that names no size, as one that mounts hugetlbfs by default does."""
    found = _DEFAULT.search(view.find(_MEMINFO) or "")
    if found is None:
        return
    size, wish = wanted.default_size, f"hugepages of {wanted.default_size} by default"
    read = Reading(_MEMINFO, found[0])
    if int(found[1]) == _page_kb(size):
        yield ok(wish, read, wanted=wish)
    else:
        step = add_at_boot(intent, f"default_hugepagesz={size}")
        yield fail(f"hugepages are of {found[1]} kB by default", read, wanted=wish, steps=[step])


def _free(
    intent: Intent, wanted: Hugepages, topology: Topology, pools: tuple[NodePool, ...]
) -> Iterator[Judgement]:
    """On the nodes of the cards; without any, on those of the isolated CPUs."""
    size = wanted.default_size
    for node, whose in _needed_on(intent, topology).items():
        pool = next((p for p in pools if (p.node, p.page_kb) == (node, _page_kb(size))), None)
        wish = f"free hugepages of {size} on node {node}, where {whose}"
        if pool is None or pool.total == 0:
            told = f"no hugepages of {size} on node {node}, where {whose}"
            yield fail(told, wanted=wish, steps=[advice(f"ask for pages with node: {node}")])
            continue
        read = Reading(f"{pool.path}/free_hugepages", f"{pool.free} of {pool.total}")
        if pool.free:
            yield ok(f"{pool.free} of {pool.total} free on node {node}", read, wanted=wish)
        else:
            told = f"all {pool.total} hugepages of {size} on node {node} are in use"
            step = advice("see who holds them: files under /dev/hugepages, or a run that died")
            yield warn(told, read, wanted=wish, steps=[step])


def _needed_on(intent: Intent, topology: Topology) -> dict[int, str]:
    cards: dict[int, str] = {}
    for port, node in topology.port_nodes.items():
        if node is not None and node in topology.nodes:
            cards.setdefault(node, f"{port} is")
    if cards:
        return cards
    isolated = intent.cpus.isolated.cpus
    return {n: "isolated CPUs are" for n, cpus in topology.nodes.items() if cpus & isolated}


def _more(intent: Intent, pages: Pages, pools: list[NodePool]) -> Step:
    """Large pages need memory in one piece, which only the boot has."""
    if intent.platform == "openshift":
        return advice("let the PerformanceProfile set them aside (plimsoll tune render)")
    if pages.size == "2M" and len(pools) == 1:
        return write(f"{pools[0].path}/nr_hugepages", str(pages.count))
    if pages.node is None:
        return advice(f"set them aside at boot: hugepagesz={pages.size} hugepages={pages.count}")
    return advice(
        f"set them aside early in the boot, by nr_hugepages of node {pages.node} "
        "(plimsoll tune render makes the service)"
    )


def _page_kb(size: PageSize) -> int:
    return PAGE_BYTES[size] >> 10


CHECK = Check(
    number=31,
    name="hugepages",
    group="memory",
    title="Hugepages are set aside, and free on the NIC's node",
    reads=(*TOPOLOGY, *POOL_READS),
    links=TOPOLOGY_LINKS,
    why=(
        "A dataplane keeps its frames in hugepages: without them each touch of a buffer may miss "
        "the TLB, and with none on the card's node every frame crosses the link between the "
        "sockets twice. Pages of a run that died stay in use."
    ),
    fix=(
        "Set them aside at boot: hugepagesz= and hugepages= on the command line, or for one "
        "node nr_hugepages below /sys/devices/system/node/ early in the boot."
    ),
    sources=(
        "Linux, Documentation/admin-guide/mm/hugetlbpage.rst",
        "DPDK, Getting Started Guide for Linux: Use of Hugepages in the Linux Environment",
        "Article: Build deterministic OpenShift dataplane performance with TRex",
    ),
    rule=_judge,
)
