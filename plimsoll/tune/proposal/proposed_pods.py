"""The preset's pods, no larger than the host at hand, or one NUMA node of it where that counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.tune.fit.topology import Topology
from plimsoll.tune.intent.hugepages import PAGE_BYTES, bytes_of, memory_text
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.proposal.proposed_pages import ProposedPages

_MOST_NETWORKS = 2
_MIB = 1 << 20


@dataclass(frozen=True)
class Room:
    """What the proposal has for pods: isolated CPUs, pages, and networks with their cards' node.

    The node of a card that does not tell is None.
    """

    topology: Topology
    isolated: frozenset[int]
    pages: ProposedPages
    networks: Mapping[str, int | None]


def propose_pods(base: Intent, room: Room) -> list[dict[str, Any]]:
    """Entries of pods, which `check_topology` finds room for."""
    return [
        _one_node_pod(pod, room)
        if base.numa_policy == "single-numa-node" and pod.qos == "guaranteed"
        else _fitted(pod, room, tuple(room.topology.nodes), room.isolated, tuple(room.networks))
        for pod in base.pods
    ]


def _one_node_pod(pod: Pod, room: Room) -> dict[str, Any]:
    """On the node that has pages, the most cards and then the most CPUs."""

    def worth(node: int) -> tuple[bool, int, int]:
        cards = min(len(_near(room, node)), _MOST_NETWORKS)
        return room.pages.on_node(node) > 0, cards, len(room.topology.nodes[node] & room.isolated)

    nodes = [node for node, cpus in room.topology.nodes.items() if cpus & room.isolated]
    best = max(nodes, key=worth)
    cpus = room.topology.nodes[best] & room.isolated
    return _fitted(pod, room, (best,), cpus, _near(room, best))


def _near(room: Room, node: int) -> tuple[str, ...]:
    return tuple(name for name, where in room.networks.items() if where in (None, node))


def _fitted(
    pod: Pod, room: Room, nodes: Sequence[int], cpus: frozenset[int], networks: Sequence[str]
) -> dict[str, Any]:
    """On `nodes`, of which one has to have the pages, and `cpus`; on the first two `networks`."""
    data: dict[str, Any] = pod.model_dump(mode="json", exclude_unset=True)
    data["cpus"] = _cpus(pod, len(cpus), max(map(len, room.topology.cores)))
    data["memory"] = _memory(pod, room)
    data["hugepages"] = _pages(pod, room.pages, nodes)
    data["networks"] = list(networks[:_MOST_NETWORKS])
    return {name: value for name, value in data.items() if value not in (None, [])}


def _cpus(pod: Pod, most: int, threads: int) -> int | float:
    """Whole cores where the pod gets CPUs of its own."""
    cpus = min(pod.cpus, most)
    if pod.qos == "guaranteed" and cpus >= threads:
        cpus -= cpus % threads
    return cpus


def _memory(pod: Pod, room: Room) -> str | None:
    """Half of what hugepages leave, where that is less than the pod's: the rest is the system's."""
    left = sum(room.topology.memory_kb.values()) * 1024 - room.pages.total_bytes
    if pod.memory is None or left <= 0 or bytes_of(pod.memory) <= left:
        return pod.memory
    return f"{max(1, left // 2 // _MIB)}Mi"


def _pages(pod: Pod, pages: ProposedPages, nodes: Sequence[int]) -> dict[str, str] | None:
    """Of the default size, as many as each of the nodes that has any has."""
    there = [count for node in nodes if (count := pages.on_node(node))]
    if pod.hugepages is None or pages.default_size is None or not there:
        return None
    page = PAGE_BYTES[pages.default_size]
    count = max(1, min(bytes_of(pod.hugepages.total) // page, *there))
    return {"size": pages.default_size, "total": memory_text(page * count)}
