"""An intent for a host at hand: a preset's settings upon the CPUs, memory and ports there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from plimsoll.errors import InputError, MachineError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.text.counted import counted
from plimsoll.tune.fit.topology import Topology
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from plimsoll.tune.proposal.proposed_pages import propose_pages
from plimsoll.tune.proposal.proposed_pods import Room, propose_pods
from plimsoll.tune.proposal.proposed_ports import propose_ports
from plimsoll.tune.proposal.survey import Survey


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
