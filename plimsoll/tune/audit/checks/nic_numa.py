"""35: whether card, isolated CPUs and hugepages are on one NUMA node."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from plimsoll.errors import MachineError
from plimsoll.text.counted import counted
from plimsoll.tune.audit.check import TOPOLOGY, Check
from plimsoll.tune.audit.expected_argument import NONE_PRESENT
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    unknown,
    warn,
    worst_of,
)
from plimsoll.tune.audit.ports.nic_ports import (
    PORT_LINKS,
    PORT_LISTS,
    PORT_READS,
    NicPort,
    judge_functions,
)
from plimsoll.tune.fit.topology import Topology, read_topology
from plimsoll.tune.host.cpus.cpu_sets import name_cpus
from plimsoll.tune.host.memory.hugepage_pools import POOL_READS, NodePool, read_pools
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import whole_number
from plimsoll.tune.intent.intent import Intent


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    try:
        topology = read_topology(view.read)
    except MachineError as error:
        return unknown(f"{error.where}: {error.message}")
    return judge_functions(view, intent, partial(_port, view, intent, topology))


def _port(view: HostView, intent: Intent, topology: Topology, port: NicPort) -> CheckJudgement:
    where = f"{port.pci}/numa_node"
    text = view.find(where)
    number = whole_number(text)
    # The kernel's -1: the platform's tables do not say. Without NUMA there is no such file.
    node = number if number is not None and number >= 0 else None
    read = Reading(where, "absent" if text is None else text)
    if node is None:
        if sum(1 for cpus in topology.nodes.values() if cpus) <= 1:
            return ok(f"{port.name} is on a host of one node", read)
        message = f"the firmware does not say on which node {port.name} is"
        return warn(message, read, expected=f"{port.name} on a known node")
    pools = read_pools(view, tuple(sorted(topology.nodes)))
    judged = [*_as_said(port, node, read), _cpus(intent, topology, port, node, read)]
    if intent.hugepages is not None:
        judged.append(_pages(pools, port, node))
    return worst_of(judged)


def _as_said(port: NicPort, node: int, read: Reading) -> Iterator[CheckJudgement]:
    if port.nic.numa_node not in (None, node):
        yield fail(
            f"{port.name} is on node {node}, not {port.nic.numa_node}",
            read,
            expected=f"{port.name} on node {port.nic.numa_node}",
            steps=[advice("move the card to a slot of that node, or change numa_node")],
        )


def _cpus(
    intent: Intent, topology: Topology, port: NicPort, node: int, read: Reading
) -> CheckJudgement:
    present = intent.cpus.isolated.cpus & topology.online
    if not present:
        return not_applicable(NONE_PRESENT)
    expected = f"isolated CPUs on node {node}, where {port.name} is"
    if here := topology.nodes.get(node, frozenset()) & present:
        return ok(f"{port.name} and {name_cpus(here)} are on node {node}", read, expected=expected)
    return fail(
        f"{port.name} is on node {node}, where no CPU is isolated",
        read,
        expected=expected,
        steps=[advice(f"isolate CPUs of node {node}, or use a card of another")],
    )


def _pages(pools: tuple[NodePool, ...], port: NicPort, node: int) -> CheckJudgement:
    found = [pool for pool in pools if pool.node == node and pool.total]
    expected = f"hugepages on node {node}, where {port.name} is"
    read = (Reading(pool.path, counted(pool.total, "page")) for pool in found)
    if found:
        return ok(f"hugepages are on node {node}", *read, expected=expected)
    return fail(
        f"{port.name} is on node {node}, where no hugepages are",
        expected=expected,
        steps=[advice(f"set hugepages aside with node: {node}")],
    )


CHECK = Check(
    number=35,
    name="nic-numa",
    group="nic",
    title="Card, isolated CPUs and hugepages are on one node",
    reads=(*TOPOLOGY, *PORT_READS, *POOL_READS),
    links=PORT_LINKS,
    lists=PORT_LISTS,
    why=(
        "A card writes frames into memory and the CPU reads them there. With one of the three on "
        "another node each frame crosses the link between the sockets, which costs latency on "
        "every access and a share of the throughput."
    ),
    fix="Choose CPUs and hugepages of the card's node, or put the card into another slot.",
    sources=(
        "Linux, Documentation/ABI/testing/sysfs-bus-pci: numa_node",
        "DPDK, Getting Started Guide for Linux: How to get best performance with NICs",
    ),
    rule=_judge,
)
