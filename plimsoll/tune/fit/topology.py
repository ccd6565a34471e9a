"""A host's CPUs, cores, NUMA nodes and memory, as the kernel tells them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from plimsoll.errors import InputError, MachineError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.tune.host.ports.pcie_link import functions_on
from plimsoll.tune.intent.intent import Intent

# The text of a file, or what a symbolic link says, by its absolute path; None where it
# cannot be read.
ReadFile = Callable[[str], str | None]
_CPU = "/sys/devices/system/cpu"
_NODE = "/sys/devices/system/node"
_NET = "/sys/class/net"
_PCI = "/sys/bus/pci/devices"
_MEM_TOTAL = re.compile(r"MemTotal:\s*(\d+) kB", re.ASCII)
TopologyRule = Literal[
    "cpus-exist",
    "cpus-covered",
    "siblings-together",
    "smt",
    "cpu-0-reserved",
    "node-has-reserved",
    "hugepage-nodes-exist",
    "hugepages-fit",
    "nics-exist",
    "nic-node-has-isolated",
    "nic-node-has-hugepages",
    "nic-is-uplink",
    "port-named-once",
    "generator-isolated",
    "pods-whole-cores",
    "pods-fit-a-node",
    "pods-fit-memory",
]


@dataclass(frozen=True)
class Topology:
    """`siblings` has for each online CPU all online CPUs of its core, itself among them.

    `nodes` has the online CPUs of each NUMA node (a node may have none), `memory_kb` its
    memory in units of 1024 bytes. `port_nodes` has the node of each port looked for and
    found, by interface name or PCI address; None where the platform does not tell.
    `port_addresses` has the PCI address of those looked for by interface name, where links
    tell it. `in_use` has the ports that the host lives by, with the reason, by name and by
    address; none where that was not determined.
    """

    online: frozenset[int]
    siblings: Mapping[int, frozenset[int]]
    nodes: Mapping[int, frozenset[int]]
    memory_kb: Mapping[int, int] = field(default_factory=dict)
    port_nodes: Mapping[str, int | None] = field(default_factory=dict)
    port_addresses: Mapping[str, str] = field(default_factory=dict)
    in_use: Mapping[str, str] = field(default_factory=dict)

    @property
    def cores(self) -> tuple[frozenset[int], ...]:
        """Each core's online CPUs, in the order of the lowest."""
        return tuple(sorted(set(self.siblings.values()), key=min))

    @property
    def smt(self) -> bool:
        """Whether a core has more than one online CPU."""
        return any(len(core) > 1 for core in self.siblings.values())

    def node_of(self, cpu: int) -> int | None:
        """The NUMA node of a CPU; None where it is not online."""
        return next((node for node, cpus in self.nodes.items() if cpu in cpus), None)


def read_topology(
    read: ReadFile, ports: Iterable[str] = (), link: ReadFile | None = None
) -> Topology:
    """The topology that `read` and `link` show, of a live host or a capture.

    Without links, as in captures that have none, the node of a virtio port is not known, nor
    the address of any. Who looks for ports in use adds them (`surveyed_ports.ports_in_use`).
    Raises MachineError where the list of online CPUs is missing or is none.
    """
    online = _cpus(read, f"{_CPU}/online")
    if not online:
        raise MachineError(
            "the CPUs that are online cannot be read",
            where=f"{_CPU}/online",
            remedy="run on Linux with sysfs, or give a capture that holds the file",
        )
    nodes, named = _nodes(read, online), tuple(ports)
    return Topology(
        online=online,
        siblings={cpu: _siblings(read, cpu, online) for cpu in sorted(online)},
        nodes=nodes,
        memory_kb=_memory_kb(read, nodes),
        port_nodes=_port_nodes(read, link, named),
        port_addresses=_port_addresses(link, named) if link else {},
    )


def ports_of(intent: Intent) -> tuple[str, ...]:
    """The interface names and PCI addresses that an intent names, each once."""
    named = [port for nic in intent.nics for port in (*nic.pf_names, *nic.pci)]
    return tuple(dict.fromkeys(named))


def _cpus(read: ReadFile, path: str) -> frozenset[int]:
    """Empty where the file is missing, empty (a node of memory alone) or no list."""
    try:
        return frozenset(parse_cpu_list((read(path) or "").strip()))
    except InputError:
        return frozenset()


def _siblings(read: ReadFile, cpu: int, online: frozenset[int]) -> frozenset[int]:
    topology = f"{_CPU}/cpu{cpu}/topology"
    # The first name is the kernel's since 5.1, the second its older one.
    found = _cpus(read, f"{topology}/core_cpus_list") or _cpus(
        read, f"{topology}/thread_siblings_list"
    )
    return (found & online) | {cpu}


def _nodes(read: ReadFile, online: frozenset[int]) -> dict[int, frozenset[int]]:
    """A kernel without NUMA is one node."""
    numbers = sorted(_cpus(read, f"{_NODE}/online"))
    found = {number: _cpus(read, f"{_NODE}/node{number}/cpulist") & online for number in numbers}
    return found if any(found.values()) else {0: online}


def _memory_kb(read: ReadFile, nodes: Mapping[int, frozenset[int]]) -> dict[int, int]:
    by_node = {node: _total(read(f"{_NODE}/node{node}/meminfo")) for node in nodes}
    if len(nodes) == 1 and not any(by_node.values()):
        return dict.fromkeys(nodes, _total(read("/proc/meminfo")))
    return by_node


def _total(meminfo: str | None) -> int:
    match = _MEM_TOTAL.search(meminfo or "")
    return int(match[1]) if match else 0


def _port_nodes(
    read: ReadFile, link: ReadFile | None, ports: Iterable[str]
) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for port in ports:
        if ":" in port:
            node, there = read(f"{_PCI}/{port}/numa_node"), read(f"{_PCI}/{port}/vendor")
        else:
            node, there = _interface_node(read, link, port), read(f"{_NET}/{port}/mtu")
        # Virtual interfaces have no node, but are there.
        if node is not None or there:
            found[port] = _node(node)
    return found


def _interface_node(read: ReadFile, link: ReadFile | None, name: str) -> str | None:
    """Of the device below it, or else of the PCI function that one belongs to: virtio's."""
    node = read(f"{_NET}/{name}/device/numa_node")
    if node is not None or link is None:
        return node
    address = _address(link, name)
    return read(f"{_PCI}/{address}/numa_node") if address else None


def _port_addresses(link: ReadFile, ports: Iterable[str]) -> dict[str, str]:
    found = {port: _address(link, port) for port in ports if ":" not in port}
    return {port: address for port, address in found.items() if address}


def _address(link: ReadFile, name: str) -> str | None:
    """Of the PCI function that an interface belongs to; virtio's lies deeper below it."""
    functions = functions_on(link(f"{_NET}/{name}") or "")
    return functions[-1] if functions else None


def _node(text: str | None) -> int | None:
    """The kernel's -1 is: the platform's tables do not say."""
    match = re.fullmatch(r"\d{1,4}", (text or "").strip(), re.ASCII)
    return int(match[0]) if match else None


# A rule that an intent breaks on the host it is for.
@dataclass(frozen=True, slots=True)
class Problem:
    """One rule broken: `field` is the place in the intent, `remedy` what to change.

    A `warn` is sound on some hosts on purpose; a `fail` on none.
    """

    rule: TopologyRule
    field: str
    severity: Literal["fail", "warn"]
    text: str
    remedy: str
