"""An intent for a host at hand: a preset's settings upon the CPUs, memory and ports there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from plimsoll.errors import InputError, MachineError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.counted import counted
from plimsoll.tune.intent.hugepages import PAGE_BYTES, PageSize, bytes_of
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.intent.proposed_ports import propose_ports
from plimsoll.tune.intent.survey import Survey
from plimsoll.tune.intent.topology import Topology

_GIB = 1 << 30
# Of each node's memory, and at most so much: the article with TRex sets 16 GiB aside on a
# host of two nodes, Telco Core RDS far more for many pods; what DPDK maps itself is a few GiB.
_MEMORY_SHARE = 4
_MOST_BYTES = 16 * _GIB
# The largest that fits.
_USEFUL_SIZES: tuple[PageSize, ...] = ("1G", "512M", "32M", "2M")


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
    pages = _pages(survey)
    nics, ports_reason = propose_ports(survey, base)
    networks = [
        {"kind": "sriov", "name": f"{nic['name']}-net", "nic": nic["name"]}
        for nic in nics
        if "resource_name" in nic
    ]
    data = base.model_dump(mode="json", exclude_unset=True)
    # Whose threads TRex may have is a question of its own host.
    data.pop("generator", None)
    data |= {
        "cpus": data["cpus"] | _cpus(survey.topology, base, reserved, isolated),
        "kernel": _with_cpus(data.get("kernel", {}), base, isolated),
        "hugepages": {"default_size": pages[0]["size"], "pages": pages} if pages else None,
        "nics": nics,
        "networks": networks,
        "pods": [_fitted(pod, len(isolated), pages, networks) for pod in base.pods],
    }
    reasons = {
        "cpus": _cpus_reason(survey.topology),
        "hugepages": _pages_reason(survey.topology, pages),
        "nics": ports_reason,
    }
    return Proposal(_checked(data, survey.where), name, reasons, survey.where)


def _checked(data: dict[str, Any], where: str) -> Intent:
    """Raises InputError where a host, or somebody's capture, tells what no intent can say."""
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


def _pages(survey: Survey) -> list[dict[str, Any]]:
    """Entries of hugepages.pages; none where no size fits a node's share."""
    topology = survey.topology
    # Memory without CPUs is far from all of them.
    shares = {
        node: min(topology.memory_kb.get(node, 0) * 1024 // _MEMORY_SHARE, _MOST_BYTES)
        for node, cpus in topology.nodes.items()
        if cpus and topology.memory_kb.get(node)
    }
    for size in _USEFUL_SIZES:
        page = PAGE_BYTES[size]
        if size in survey.page_sizes and shares and min(shares.values()) >= page:
            return [
                {"size": size, "count": share // page}
                | ({"node": node} if len(topology.nodes) > 1 else {})
                for node, share in shares.items()
            ]
    return []


def _fitted(
    pod: Pod, isolated: int, pages: list[dict[str, Any]], networks: list[dict[str, str]]
) -> dict[str, Any]:
    """The preset's pod, no larger than the host, on the first two of its networks."""
    data: dict[str, Any] = pod.model_dump(mode="json", exclude_unset=True)
    data["cpus"] = min(pod.cpus, isolated)
    data.pop("networks", None)
    if networks:
        data["networks"] = [each["name"] for each in networks[:2]]
    if pod.hugepages and pages:
        # A pod gets its pages from one node.
        smallest = min(pages, key=lambda each: int(each["count"]))
        page = PAGE_BYTES[smallest["size"]]
        most = page * min(bytes_of(pod.hugepages.total) // page, smallest["count"])
        total = f"{most // _GIB}Gi" if most % _GIB == 0 else f"{most >> 20}Mi"
        data["hugepages"] = {"size": smallest["size"], "total": total}
    else:
        data.pop("hugepages", None)
    return data


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in (None, {}, [])}


def _cpus_reason(topology: Topology) -> str:
    nodes = sum(1 for cpus in topology.nodes.values() if cpus)
    return (
        f"{len(topology.online)} CPUs online: {len(topology.cores)} cores with SMT "
        f"{'on' if topology.smt else 'off'}, on {counted(nodes, 'node')}. Reserved is the first "
        "core of each node with all its threads, isolated is the rest."
    )


def _pages_reason(topology: Topology, pages: list[dict[str, Any]]) -> str:
    memory = ", ".join(
        f"node {node} has {kb / 2**20:.1f} GiB" for node, kb in topology.memory_kb.items()
    )
    if not pages:
        return ""
    return (
        f"A quarter of each node's memory, at most {_MOST_BYTES // _GIB} GiB of each "
        f"({memory}). Set what your application and its peers on the host map."
    )
