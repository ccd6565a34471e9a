"""Whether a host has room for a pod, and one NUMA node of it where the intent wants that.

Under single-numa-node the kubelet refuses a pod (TopologyAffinityError) whose exclusive CPUs,
hugepages and devices no one node has together: Kubernetes' documentation, "Control Topology
Management Policies on a node" and "Utilizing the NUMA-aware Memory Manager".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from plimsoll.tune.fit.topology import Problem, Topology
from plimsoll.tune.intent.hugepages import PAGE_BYTES, PodHugepages, bytes_of, memory_text
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.network import SriovAttachment
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.intent.pod import Pod, pages_by_node, sets_pages_aside

_POLICY = "single-numa-node takes them of one"


def pods_on_nodes(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """What each pod asks that the host, or no node of it, has."""
    for place, pod in enumerate(intent.pods):
        yield from _memory(intent, topology, pod, f"pods[{place}].memory")
        if intent.numa_policy == "single-numa-node" and pod.qos == "guaranteed":
            yield from _one_node(intent, topology, pod, f"pods[{place}]")


def _memory(intent: Intent, topology: Topology, pod: Pod, field: str) -> Iterator[Problem]:
    """Of what the hugepages leave; where the memory is not known, nothing is said."""
    there = sum(_bytes_by_node(topology).values())
    left = there - (sum(intent.hugepages.bytes_by_node.values()) if intent.hugepages else 0)
    if pod.memory and 0 < left < bytes_of(pod.memory):
        yield Problem(
            "pods-fit-memory",
            field,
            "fail",
            f"{pod.name} asks for {pod.memory}, and hugepages leave {left / 2**30:.1f} GiB of "
            f"the host's {there / 2**30:.1f} GiB",
            "ask for less; hugepages are not part of it",
        )


def _one_node(intent: Intent, topology: Topology, pod: Pod, field: str) -> Iterator[Problem]:
    """The first of CPUs, hugepages and cards that no node has, or else all three together."""
    cpus = _nodes_with_cpus(intent, topology, pod)
    pages = _nodes_with_pages(intent, topology, pod.hugepages)
    cards = {nic.name: _nodes_of(nic, topology) for nic in _nics(intent, pod)}
    with_cards = frozenset(topology.nodes).intersection(*cards.values())
    if not cpus:
        yield _too_many_cpus(intent, topology, pod, f"{field}.cpus")
    elif pod.hugepages and not pages:
        yield _too_many_pages(intent, topology, pod.hugepages, f"{field}.hugepages.total")
    elif not with_cards:
        message = ", ".join(f"{name} on {_listed(nodes)}" for name, nodes in cards.items())
        yield _problem(
            f"{field}.networks",
            f"{pod.name} joins cards of different nodes, {message}, and {_POLICY}",
            "use ports of one node, or another numa_policy",
        )
    elif not cpus & pages & with_cards:
        yield _problem(
            field,
            f"no node has all that {pod.name} asks for: CPUs are on {_listed(cpus)}, hugepages "
            f"on {_listed(pages)}, cards on {_listed(with_cards)}, and {_POLICY}",
            "isolate CPUs and set pages aside where the cards are",
        )


def _problem(field: str, text: str, remedy: str) -> Problem:
    return Problem("pods-fit-a-node", field, "fail", text, remedy)


def _isolated_by_node(intent: Intent, topology: Topology) -> dict[int, int]:
    isolated = intent.cpus.isolated.cpus
    return {node: len(cpus & isolated) for node, cpus in topology.nodes.items()}


def _nodes_with_cpus(intent: Intent, topology: Topology, pod: Pod) -> frozenset[int]:
    numbers = _isolated_by_node(intent, topology)
    return frozenset(node for node, number in numbers.items() if number >= pod.cpus)


def _too_many_cpus(intent: Intent, topology: Topology, pod: Pod, field: str) -> Problem:
    most = max(_isolated_by_node(intent, topology).values())
    return _problem(
        field,
        f"{pod.name} asks for {pod.cpus:g} CPUs, no node has more than {most} isolated, "
        f"and {_POLICY}",
        f"ask for {most} at most, or use another numa_policy",
    )


def _nodes_with_pages(
    intent: Intent, topology: Topology, expected: PodHugepages | None
) -> frozenset[int]:
    """All nodes where it is ambiguous: where some pages name a node and others do not."""
    by_node = pages_by_node(intent.hugepages, expected.size) if expected else {}
    unclear = (None in by_node and len(by_node) > 1) or sets_pages_aside(intent.kernel)
    if expected is None or not by_node or unclear:
        return frozenset(topology.nodes)
    if None not in by_node:
        requested = bytes_of(expected.total)
        return frozenset(n for n, size in by_node.items() if n is not None and size >= requested)
    share = _share(intent, topology, expected)
    fits = share is None or bytes_of(expected.total) <= share
    return frozenset(topology.nodes) if fits else frozenset()


def _share(intent: Intent, topology: Topology, expected: PodHugepages) -> int | None:
    """The most bytes that a node has of pages which the kernel deals out to all in turn.

    None where the memory is not known, and where a node is too small for its share, which the
    others then get.
    """
    nodes, page = _bytes_by_node(topology), PAGE_BYTES[expected.size]
    if not nodes:
        return None
    pages = sum(pages_by_node(intent.hugepages, expected.size).values()) // page
    share = -(-pages // len(nodes)) * page
    return share if min(nodes.values()) > share else None


def _too_many_pages(
    intent: Intent, topology: Topology, expected: PodHugepages, field: str
) -> Problem:
    most = memory_text(_share(intent, topology, expected) or 0)
    return _problem(
        field,
        f"{expected.total} are more than the {most} that a node gets of pages which name none, "
        f"and {_POLICY}",
        f"ask for {most} at most, or name the node of the pages",
    )


def _bytes_by_node(topology: Topology) -> Mapping[int, int]:
    """Memory, without the nodes that have none or do not tell."""
    return {node: kb * 1024 for node, kb in topology.memory_kb.items() if kb}


def _nics(intent: Intent, pod: Pod) -> Iterator[Nic]:
    for name in pod.networks:
        network = intent.network(name)
        if isinstance(network, SriovAttachment):
            yield intent.nic(network.nic)


def _nodes_of(nic: Nic, topology: Topology) -> frozenset[int]:
    """Where its ports are; all nodes where one of them does not tell."""
    found = [topology.port_nodes.get(port) for port in (*nic.pf_names, *nic.pci)]
    nodes = found or [nic.numa_node]
    if None in nodes:
        return frozenset(topology.nodes)
    return frozenset(node for node in nodes if node is not None)


def _listed(nodes: Set[int]) -> str:
    return f"node {' or '.join(map(str, sorted(nodes)))}"
