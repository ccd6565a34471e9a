"""An intent for a host at hand: a preset's settings upon the CPUs, memory and ports there are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from plimsoll.errors import InputError, MachineError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.text.counted import counted
from plimsoll.tune.fit.topology import Topology
from plimsoll.tune.intent.hugepages import PAGE_BYTES, bytes_of, memory_text
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from plimsoll.tune.intent.nic import MELLANOX, is_interface_name
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.proposal.proposed_pages import ProposedPages, propose_pages
from plimsoll.tune.proposal.survey import Survey, SurveyedPort

# What a preset says of its own ports and holds of any.
_OF_THE_PRESET = ("num_vfs", "mtu", "vlan", "trust", "spoofchk")
_LONGEST = 63
_WHO_LOGS_IN = " Which of them carries logins is unknown: check before you bind one to vfio-pci."
_MAX_NETWORKS = 2
_MIB = 1 << 20


@dataclass(frozen=True)
class Proposal:
    """`reasons` says of some of the intent's fields how they came about, by field.

    `where` names the host in a sentence.
    """

    intent: Intent
    preset: str
    reasons: Mapping[str, str]
    where: str = "this host"


def propose_intent(survey: Survey, preset: str | None = None) -> Proposal:
    """The preset's intent with this host's CPUs, hugepages and ports.

    Without a preset it is `vm` in a guest, else `bare-metal`. Raises InputError for an unknown
    preset and for a host that tells what no intent can say, MachineError on a host of one core,
    which has nothing to isolate.
    """
    name = preset or ("vm" if survey.virtual else "bare-metal")
    base = load_preset(name)
    reserved, isolated = split_cpus(survey.topology)
    pages = propose_pages(survey, base)
    nics, ports_reason = propose_ports(survey, base, isolated, pages)
    networks = [
        {"kind": "sriov", "name": f"{nic['name']}-net", "nic": nic["name"]}
        for nic in nics
        if "resource_name" in nic
    ]
    node_of = {nic["name"]: nic.get("numa_node") for nic in nics}
    near = {each["name"]: node_of[each["nic"]] for each in networks}
    data = base.model_dump(mode="json", exclude_unset=True)
    # Whose threads TRex may have is a question of its own host.
    data.pop("generator", None)
    data |= {
        "cpus": data["cpus"] | _cpus(survey.topology, base, reserved, isolated),
        "kernel": _with_cpus(data.get("kernel", {}), base, isolated),
        "hugepages": pages.section,
        "nics": nics,
        "networks": networks,
        "pods": propose_pods(base, Room(survey.topology, isolated, pages, near)),
    }
    reasons = {
        "cpus": _cpus_reason(survey.topology),
        "hugepages": pages.reason,
        "nics": ports_reason,
    }
    return Proposal(_checked(data, survey.where), name, reasons, survey.where)


def _checked(data: dict[str, Any], where: str) -> Intent:
    """Raises InputError where a host, or a capture, has values that no intent can express."""
    try:
        return Intent.model_validate(_without_empty(data))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"tells of itself what makes no intent: {place}: {first['msg']}",
            where=where,
            remedy="write the intent by hand, from a preset",
        ) from None


def split_cpus(topology: Topology) -> tuple[frozenset[int], frozenset[int]]:
    """(reserved, isolated): the first core of each node with all its threads, and the rest.

    A node of a single core keeps it for the workload, unless it is that of the boot CPU.
    Raises MachineError where nothing would be left.
    """
    reserved = topology.siblings[min(topology.online)]
    for cpus in topology.nodes.values():
        cores = [core for core in topology.cores if core & cpus]
        if not cpus & reserved and len(cores) > 1:
            reserved |= cores[0]
    if reserved == topology.online:
        raise MachineError(
            f"CPUs {format_cpu_list(reserved)} are one core, and nothing is left to isolate",
            where="cpus",
            remedy="give the host a second core: a host of one core has no room for a dataplane",
        )
    return reserved, topology.online - reserved


def _cpus(
    topology: Topology, base: Intent, reserved: frozenset[int], isolated: frozenset[int]
) -> dict[str, Any]:
    smt = "enabled" if topology.smt else "any" if base.cpus.smt == "any" else "disabled"
    return {
        "reserved": format_cpu_list(reserved),
        "isolated": format_cpu_list(isolated),
        "smt": smt,
    }


def _with_cpus(kernel: dict[str, Any], base: Intent, isolated: frozenset[int]) -> dict[str, Any]:
    """The preset's kernel arguments, with the isolated CPUs of this host."""
    old, new = f"={base.cpus.isolated.text}", f"={format_cpu_list(isolated)}"

    def swapped(argument: str) -> str:
        return argument.removesuffix(old) + new if argument.endswith(old) else argument

    changed = dict(kernel)
    if "arguments" in kernel:
        changed["arguments"] = [swapped(each) for each in kernel["arguments"]]
    if "tuned_bootloader" in kernel:
        changed["tuned_bootloader"] = {
            name: swapped(value) for name, value in kernel["tuned_bootloader"].items()
        }
    return changed


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in (None, {}, [])}


def _cpus_reason(topology: Topology) -> str:
    nodes = sum(1 for cpus in topology.nodes.values() if cpus)
    return (
        f"{len(topology.online)} CPUs online: {len(topology.cores)} cores with SMT "
        f"{'on' if topology.smt else 'off'}, on {counted(nodes, 'node')}. Reserved is the first "
        "core of each node with all its threads, isolated is the rest."
    )


# The ports that a proposal gives to tests: all physical ones that the host does not live by.
def propose_ports(
    survey: Survey, base: Intent, isolated: frozenset[int], pages: ProposedPages
) -> tuple[list[dict[str, Any]], str]:
    """(entries of nics, why these): the free ports, with the settings of the preset's own.

    Not those whose node has no CPU among `isolated`, or none of the pages.
    """
    against = [(port, port.in_use or _far(port, survey, isolated, pages)) for port in survey.ports]
    free = [port for port, reason in against if reason is None]
    nics = [_nic(port, base) for port in free]
    found = "".join(f" {_shown(port)}: {_described(port)}." for port in free)
    spared = "".join(f" Left out: {_shown(port)}, as {why}." for port, why in against if why)
    if not free:
        return nics, f"No free PCI port was found.{spared}"
    warning = "" if survey.sessions_known else _WHO_LOGS_IN
    return nics, f"The physical ports that are not in use.{found}{spared}{warning}"


def _far(
    port: SurveyedPort, survey: Survey, isolated: frozenset[int], pages: ProposedPages
) -> str | None:
    """Why its frames would cross the link between the sockets; None where they need not."""
    if port.numa_node is None:
        return None
    if not survey.topology.nodes.get(port.numa_node, frozenset()) & isolated:
        return f"it is on node {port.numa_node}, where no CPU is isolated"
    if pages.entries and not pages.on_node(port.numa_node):
        return f"it is on node {port.numa_node}, which has no memory for hugepages"
    return None


def _nic(port: SurveyedPort, base: Intent) -> dict[str, Any]:
    name = _object_name(port)
    mellanox = port.vendor == MELLANOX
    nic: dict[str, Any] = {"name": name}
    if base.platform == "openshift" and port.name and is_interface_name(port.name):
        nic["pf_names"] = [port.name]
    else:
        # An interface's name is gone once its port is bound to vfio-pci.
        nic["pci"] = [port.pci_address]
    # DPDK drives mlx5 cards alongside the kernel; without an IOMMU vfio-pci is not safe.
    past_the_kernel = port.driver == "vfio-pci" or (port.iommu and not mellanox)
    nic["driver"] = "vfio-pci" if past_the_kernel else "netdevice"
    if mellanox:
        nic |= {"vendor": MELLANOX, "rdma": True}
    if base.platform == "openshift" and port.total_vfs:
        nic |= _divided(port, base, name)
    if port.numa_node is not None:
        nic["numa_node"] = port.numa_node
    if port.speed_mbps and port.speed_mbps >= 1000:
        nic["link_speed_gbps"] = port.speed_mbps // 1000
    return nic


def _divided(port: SurveyedPort, base: Intent, name: str) -> dict[str, Any]:
    """VFs, as many as the preset's ports have, or one."""
    preset = base.nics[0].model_dump(mode="json", exclude_unset=True) if base.nics else {}
    settings = {field: preset[field] for field in _OF_THE_PRESET if field in preset}
    settings["num_vfs"] = min(settings.get("num_vfs", 1), port.total_vfs)
    return settings | {"resource_name": f"nic_{name.replace('-', '_')}"[:63]}


def _object_name(port: SurveyedPort) -> str:
    """The interface's name, or else the PCI address, as Kubernetes accepts names."""
    plain = re.sub(r"[^a-z0-9]+", "-", (port.name or "").lower()).strip("-")
    return plain[:_LONGEST].strip("-") or f"pci-{re.sub(r'[:.]', '-', port.pci_address)}"


def _shown(port: SurveyedPort) -> str:
    # The kernel lets an interface's name drive a terminal.
    name = ascii(port.name)[1:-1] if port.name else "no interface"
    return f"{port.pci_address} ({name})"


def _described(port: SurveyedPort) -> str:
    node = "node unknown" if port.numa_node is None else f"node {port.numa_node}"
    return f"driver {port.driver or 'none'}, {node}"


# The preset's pods, no larger than the host at hand, or one NUMA node of it where that counts.
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
        cards = min(len(_near(room, node)), _MAX_NETWORKS)
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
    data["cpus"] = _pod_cpus(pod, len(cpus), max(map(len, room.topology.cores)))
    data["memory"] = _memory(pod, room)
    data["hugepages"] = _pages(pod, room.pages, nodes)
    data["networks"] = list(networks[:_MAX_NETWORKS])
    return {name: value for name, value in data.items() if value not in (None, [])}


def _pod_cpus(pod: Pod, most: int, threads: int) -> int | float:
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
