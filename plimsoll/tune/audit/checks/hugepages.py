"""31: whether the intent's hugepages are there, and some are free where the NIC is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from plimsoll.errors import MachineError
from plimsoll.text.counted import counted
from plimsoll.tune.audit.check import TOPOLOGY, TOPOLOGY_LINKS, Check
from plimsoll.tune.audit.expected_argument import add_at_boot
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    fail,
    not_applicable,
    ok,
    tell,
    unknown,
    warn,
    worst_of,
    write,
)
from plimsoll.tune.audit.setting import performance_profile
from plimsoll.tune.expected.kernel_argument import hugepage_arguments
from plimsoll.tune.fit.topology import Topology, ports_of, read_topology
from plimsoll.tune.host.cpus.threads import LONGEST_COMM
from plimsoll.tune.host.memory.hugepage_pools import (
    HOLDER_READS,
    POOL_READS,
    NodePool,
    read_holders,
    read_pools,
)
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.hugepages import PAGE_BYTES, Hugepages, Pages, PageSize
from plimsoll.tune.intent.intent import Intent

_MEMINFO = "/proc/meminfo"
_STATUS = "/proc/*/task/*/status"
_MAX_NAMED = 4
_DEFAULT = re.compile(r"^Hugepagesize:\s+(\d{1,12}) kB$", re.ASCII | re.MULTILINE)


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    expected = intent.hugepages
    if expected is None:
        return not_applicable("the intent asks for no hugepages")
    try:
        topology = read_topology(view.read, ports_of(intent), view.link)
    except MachineError as error:
        return unknown(f"{error.where}: {error.message}")
    pools = read_pools(view, tuple(sorted(topology.nodes)))
    return worst_of(
        (
            *_set_aside(intent, expected, pools),
            *_default_size(view, intent, expected),
            *_free(view, intent, expected, topology, pools),
        )
    )


def _without_intent(view: HostView) -> CheckJudgement:
    """How many a dataplane needs is unknown, but it needs some."""
    try:
        topology = read_topology(view.read, (), view.link)
    except MachineError as error:
        return unknown(f"{error.where}: {error.message}")
    pools = read_pools(view, tuple(sorted(topology.nodes)))
    there = [pool for pool in pools if pool.total]
    read = tuple(Reading(f"{pool.path}/nr_hugepages", str(pool.total)) for pool in there or pools)
    if not there:
        return warn("no hugepages are set aside", *read, expected="hugepages for a dataplane")
    counted_pages = (
        f"{counted(pool.total, f'hugepage of {pool.page_kb} kB')} on node {pool.node}, "
        f"{pool.free} free"
        for pool in there
    )
    return ok("; ".join(counted_pages), *read)


def _set_aside(
    intent: Intent, expected: Hugepages, pools: tuple[NodePool, ...]
) -> Iterator[CheckJudgement]:
    for pages in expected.pages:
        found = [pool for pool in pools if pool.page_kb == _page_kb(pages.size)]
        here = [pool for pool in found if pages.node in (None, pool.node)]
        total = sum(pool.total for pool in here)
        place = "" if pages.node is None else f" on node {pages.node}"
        wish = f"{counted(pages.count, f'hugepage of {pages.size}')}{place}"
        read = tuple(Reading(f"{pool.path}/nr_hugepages", str(pool.total)) for pool in here)
        message = f"{counted(total, f'hugepage of {pages.size}')}{place}"
        if total >= pages.count:
            yield ok(message, *read, expected=wish)
        else:
            short = f"{message}, and {pages.count} {'is' if pages.count == 1 else 'are'} expected"
            yield fail(short, *read, expected=wish, steps=[_more(intent, expected, pages, here)])


def _default_size(view: HostView, intent: Intent, expected: Hugepages) -> Iterator[CheckJudgement]:
    """What a program gets that names no size, as one that mounts hugetlbfs by default does."""
    found = _DEFAULT.search(view.find(_MEMINFO) or "")
    if found is None:
        return
    size, wish = expected.default_size, f"hugepages of {expected.default_size} by default"
    read = Reading(_MEMINFO, found[0])
    if int(found[1]) == _page_kb(size):
        yield ok(wish, read, expected=wish)
    else:
        steps = [_at_boot(intent, expected)]
        yield fail(f"hugepages are of {found[1]} kB by default", read, expected=wish, steps=steps)


def _free(
    view: HostView,
    intent: Intent,
    expected: Hugepages,
    topology: Topology,
    pools: tuple[NodePool, ...],
) -> Iterator[CheckJudgement]:
    """On the nodes of the cards; without any, on those of the isolated CPUs."""
    size = expected.default_size
    for node, whose in _needed_on(intent, topology).items():
        pool = next((p for p in pools if (p.node, p.page_kb) == (node, _page_kb(size))), None)
        wish = f"free hugepages of {size} on node {node}, where {whose}"
        if pool is None or pool.total == 0:
            message = f"no hugepages of {size} on node {node}, where {whose}"
            yield fail(message, expected=wish, steps=list(_elsewhere(expected, pools, node)))
            continue
        read = Reading(f"{pool.path}/free_hugepages", f"{pool.free} of {pool.total}")
        if pool.free:
            yield ok(f"{pool.free} of {pool.total} free on node {node}", read, expected=wish)
        else:
            message = f"none of {counted(pool.total, f'hugepage of {size}')} on node {node} is free"
            yield tell(partial(_held, view, intent, message, read, wish))


def _elsewhere(expected: Hugepages, pools: tuple[NodePool, ...], node: int) -> Iterator[Step]:
    """Pages missing altogether, or requested on that node, are covered by the number above."""
    size = expected.default_size
    named = any((pages.size, pages.node) == (size, node) for pages in expected.pages)
    if not named and any(pool.total for pool in pools if pool.page_kb == _page_kb(size)):
        yield advice(f"ask for pages with node: {node}")


def _held(view: HostView, intent: Intent, message: str, read: Reading, wish: str) -> CheckJudgement:
    """Pages that the expected processes hold are where they belong. Raises CannotRead."""
    holders = read_holders(view)
    names = ", ".join(f"{each.comm} ({each.pid})" for each in holders[:_MAX_NAMED])
    who = Reading(_STATUS, names or "no HugetlbPages of any process")
    if not holders:
        step = advice("remove what a run that died left: its files in a mounted hugetlbfs")
        return warn(f"{message}, and no process maps any", read, who, expected=wish, steps=[step])
    expected = {name[:LONGEST_COMM] for name in intent.expected_processes}
    if any(each.comm in expected for each in holders):
        return ok(f"{message}: held by {names}", read, who, expected=wish)
    step = advice(f"see whether {names} should hold them: who starts next gets none")
    return warn(f"{message}: held by {names}", read, who, expected=wish, steps=[step])


def _needed_on(intent: Intent, topology: Topology) -> dict[int, str]:
    cards: dict[int, str] = {}
    for port, node in topology.port_nodes.items():
        if node is not None and node in topology.nodes:
            cards.setdefault(node, f"{port} is")
    if cards:
        return cards
    isolated = intent.cpus.isolated.cpus
    return {n: "isolated CPUs are" for n, cpus in topology.nodes.items() if cpus & isolated}


def _more(intent: Intent, expected: Hugepages, pages: Pages, pools: list[NodePool]) -> Step:
    """Large pages need memory in one piece, which only the boot has."""
    on_node = "" if pages.node is None else f", on node {pages.node}"
    openshift = performance_profile(f"{counted(pages.count, f'hugepage of {pages.size}')}{on_node}")
    if pages.size == "2M" and len(pools) == 1:
        return write(f"{pools[0].path}/nr_hugepages", str(pages.count), openshift=openshift)
    if pages.node is None:
        return _at_boot(intent, expected)
    return advice(
        f"set them aside early in the boot, by nr_hugepages of node {pages.node} "
        "(plimsoll tune render makes the service)",
        openshift=openshift,
    )


def _at_boot(intent: Intent, expected: Hugepages) -> Step:
    """All arguments at once: each hugepages= counts pages of the hugepagesz= before it."""
    return add_at_boot(intent, *(each.text for each in hugepage_arguments(expected, "")))


def _page_kb(size: PageSize) -> int:
    return PAGE_BYTES[size] >> 10


CHECK = Check(
    number=31,
    name="hugepages",
    group="memory",
    title="Hugepages are set aside, and free on the NIC's node",
    reads=(*TOPOLOGY, *POOL_READS, *HOLDER_READS),
    links=TOPOLOGY_LINKS,
    why=(
        "A dataplane keeps its frames in hugepages: without them each touch of a buffer may miss "
        "the TLB, and with none on the card's node every frame crosses the link between the "
        "sockets twice. Pages of a run that died stay in use, mapped by no process."
    ),
    fix=(
        "Set them aside at boot: hugepagesz= and hugepages= on the command line, or for one "
        "node nr_hugepages below /sys/devices/system/node/ early in the boot."
    ),
    sources=(
        "Linux, Documentation/admin-guide/mm/hugetlbpage.rst",
        "proc_pid_status(5): HugetlbPages",
        "DPDK, Getting Started Guide for Linux: Use of Hugepages in the Linux Environment",
        "Article: Build deterministic OpenShift dataplane performance with TRex",
    ),
    rule=_judge,
    without_intent=_without_intent,
)
