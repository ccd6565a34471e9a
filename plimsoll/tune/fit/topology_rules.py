"""What an intent must have right about the very host it is for.

The Node Tuning Operator checks none of this: it does not see the nodes when it
accepts a profile. The rules are design rules of low-latency platforms (Red Hat's
guide to low-latency nodes; DPDK's guide for Linux on NUMA and isolation).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.host.cpus import format_cpu_list
from plimsoll.text.counted import counted
from plimsoll.tune.fit.pods_on_nodes import pods_on_nodes
from plimsoll.tune.fit.topology import Problem, Topology
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import Nic


def check_topology(intent: Intent, topology: Topology) -> tuple[Problem, ...]:
    """Every rule that `intent` breaks on a host of this topology, CPUs first; empty: none."""
    return (
        *_cpus_exist(intent, topology),
        *_cpus_covered(intent, topology),
        *_siblings_together(intent, topology),
        *_smt(intent, topology),
        *_cpu_0_reserved(intent, topology),
        *_node_has_reserved(intent, topology),
        *_generator(intent, topology),
        *_pods_whole_cores(intent, topology),
        *pods_on_nodes(intent, topology),
        *_hugepages(intent, topology),
        *_nics(intent, topology),
        *ports_on_host(intent, topology),
    )


def _cpus_exist(intent: Intent, topology: Topology) -> Iterator[Problem]:
    for field in ("reserved", "isolated"):
        if absent := getattr(intent.cpus, field).cpus - topology.online:
            yield Problem(
                "cpus-exist",
                f"cpus.{field}",
                "fail",
                f"{_named(absent)} {field} but not online",
                f"name only CPUs of {format_cpu_list(topology.online)}",
            )


def _cpus_covered(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """A CPU that is neither runs the system's tasks unpinned and counts for no pod."""
    cpus = intent.cpus
    offlined = cpus.offlined.cpus if cpus.offlined else frozenset()
    if left := topology.online - cpus.housekeeping - cpus.isolated.cpus - offlined:
        yield Problem(
            "cpus-covered",
            "cpus",
            "fail",
            f"{_named(left)} online and neither reserved nor isolated",
            f"add {format_cpu_list(left)} to reserved or isolated, or to offlined",
        )


def _siblings_together(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """The threads of a core share its execution units and its two nearest caches."""
    reserved, isolated = intent.cpus.reserved.cpus, intent.cpus.isolated.cpus
    split = [core for core in topology.cores if core & reserved and core & isolated]
    if split:
        listed = "; ".join(format_cpu_list(core) for core in split[:8])
        yield Problem(
            "siblings-together",
            "cpus.isolated",
            "fail",
            f"{counted(len(split), 'core')} with threads both reserved and isolated: {listed}",
            "move all threads of a core to the same side",
        )


def _smt(intent: Intent, topology: Topology) -> Iterator[Problem]:
    expected = intent.cpus.smt
    if expected == "disabled" and topology.smt:
        text, remedy = "SMT is on", "turn it off in the firmware or with nosmt, or use smt: any"
    elif expected == "enabled" and not topology.smt:
        text, remedy = "no core has two threads online", "turn SMT on, or use smt: any"
    else:
        return
    yield Problem("smt", "cpus.smt", "fail", text, remedy)


def _cpu_0_reserved(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """The boot CPU keeps the time and takes the interrupts that nothing else can."""
    if 0 in topology.online and 0 not in intent.cpus.reserved:
        yield Problem(
            "cpu-0-reserved",
            "cpus.reserved",
            "fail",
            "CPU 0 is not reserved, and has work of the kernel that cannot be moved",
            "add 0 and its siblings to reserved",
        )


def _node_has_reserved(intent: Intent, topology: Topology) -> Iterator[Problem]:
    for node, cpus in topology.nodes.items():
        if cpus and not cpus & intent.cpus.reserved.cpus:
            yield Problem(
                "node-has-reserved",
                "cpus.reserved",
                "warn",
                f"node {node} has no reserved CPU: its housekeeping crosses to another node",
                f"reserve a core of node {node}, such as that of CPU {min(cpus)}",
            )


def _generator(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """Only where it runs on this very host: its CPUs are all online here."""
    polling = intent.generator.polling_cpus
    shared = polling & intent.cpus.reserved.cpus
    if shared and polling <= topology.online:
        yield Problem(
            "generator-isolated",
            "generator",
            "fail",
            f"the generator polls on {_named(shared, verb=False)}, reserved for the system",
            "give it isolated CPUs",
        )


def _pods_whole_cores(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """Half a core leaves its other thread to a stranger; full-pcpus-only refuses the pod."""
    threads = max(map(len, topology.cores))
    for place, pod in enumerate(intent.pods):
        if pod.qos == "guaranteed" and pod.cpus % threads:
            yield Problem(
                "pods-whole-cores",
                f"pods[{place}].cpus",
                "warn",
                f"{pod.cpus} CPUs are not a whole number of cores of {threads} threads",
                f"give {pod.name} a multiple of {threads}",
            )


def _hugepages(intent: Intent, topology: Topology) -> Iterator[Problem]:
    if intent.hugepages is None:
        return
    expected = intent.hugepages.bytes_by_node
    for node, expected_bytes in expected.items():
        if node is not None and node not in topology.nodes:
            yield Problem(
                "hugepage-nodes-exist",
                "hugepages.pages",
                "fail",
                f"there is no node {node}",
                f"use {', '.join(map(str, topology.nodes))}",
            )
        elif node is not None and expected_bytes >= topology.memory_kb.get(node, 0) * 1024 > 0:
            yield _too_many(f"node {node}", expected_bytes, topology.memory_kb[node])
    total_kb = sum(topology.memory_kb.values())
    if len(expected) > 1 or None in expected:
        expected_bytes = sum(expected.values())
        if expected_bytes >= total_kb * 1024 > 0:
            yield _too_many("the host", expected_bytes, total_kb)


def _too_many(place: str, expected_bytes: int, memory_kb: int) -> Problem:
    return Problem(
        "hugepages-fit",
        "hugepages.pages",
        "fail",
        f"{expected_bytes / 2**30:.1f} GiB are requested of {place}, which has "
        f"{memory_kb / 2**20:.1f} GiB in all",
        "ask for fewer pages, and leave memory to the system",
    )


def _nics(intent: Intent, topology: Topology) -> Iterator[Problem]:
    for place, nic in enumerate(intent.nics):
        ports = [*nic.pf_names, *nic.pci]
        for port in ports:
            if port not in topology.port_nodes:
                yield Problem(
                    "nics-exist", f"nics[{place}]", "fail", f"no port is {port}", "name another"
                )
        found = {node for port in ports if (node := topology.port_nodes.get(port)) is not None}
        if nic.numa_node is not None:
            yield from _nic_moved(nic, place, found)
        for node in sorted(found):
            yield from _nic_on_node(intent, topology, f"nics[{place}]", nic.name, node)


def _nic_moved(nic: Nic, place: int, found: set[int]) -> Iterator[Problem]:
    for node in sorted(found - {nic.numa_node}):
        yield Problem(
            "nics-exist",
            f"nics[{place}].numa_node",
            "fail",
            f"{nic.name} is on node {node}, not {nic.numa_node}",
            f"use numa_node: {node}, or another slot",
        )


def _nic_on_node(
    intent: Intent, topology: Topology, field: str, name: str, node: int
) -> Iterator[Problem]:
    """Frames and their buffers should not cross the link between the sockets."""
    if not topology.nodes.get(node, frozenset()) & intent.cpus.isolated.cpus:
        yield Problem(
            "nic-node-has-isolated",
            field,
            "fail",
            f"{name} is on node {node}, where no CPU is isolated",
            f"isolate CPUs of node {node}, or use a card of another",
        )
    if intent.hugepages is None:
        return
    by_node = intent.hugepages.bytes_by_node
    if None not in by_node and not by_node.get(node):
        yield Problem(
            "nic-node-has-hugepages",
            field,
            "fail",
            f"{name} is on node {node}, where no hugepages are set aside",
            f"add hugepages with node: {node}",
        )


def _named(cpus: frozenset[int], verb: bool = True) -> str:
    """ "CPU 3 is", "CPUs 3-4 are"; without the verb where it is not the subject."""
    noun, is_ = ("CPU", " is") if len(cpus) == 1 else ("CPUs", " are")
    return f"{noun} {format_cpu_list(cpus)}{is_ if verb else ''}"


# What only the host tells of an intent's ports: that it lives by one, or that two are one.
def ports_on_host(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """The ports that binding would cut the host off by, and those that two nics would bind."""
    yield from _uplinks(intent, topology)
    yield from _named_once(intent, topology)


def _uplinks(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """VFs alone leave the port itself with the kernel, and its traffic."""
    for place, nic in enumerate(intent.nics):
        if nic.driver != "vfio-pci" or nic.num_vfs is not None:
            continue
        for port in (*nic.pf_names, *nic.pci):
            if reason := topology.in_use.get(port):
                yield Problem(
                    "nic-is-uplink",
                    f"nics[{place}]",
                    "fail",
                    f"{nic.driver} would take {port} from the host at each boot: {reason}",
                    "name another port, or give it num_vfs, so that only its VFs are taken",
                )


def _named_once(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """The intent alone cannot tell, and so not see two uses of one port disagree."""
    users = {address: nic.name for nic in intent.nics for address in nic.pci}
    for place, nic in enumerate(intent.nics):
        for port in nic.pf_names:
            address = topology.port_addresses.get(port)
            if address in users and users[address] != nic.name:
                yield Problem(
                    "port-named-once",
                    f"nics[{place}].pf_names",
                    "fail",
                    f"{port} is {address}, which {users[address]} takes already",
                    "take it out of one of them; where each takes VFs of its own, name it by its "
                    "address in both",
                )
