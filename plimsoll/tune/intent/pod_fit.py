"""Whether a node of the intent has room for a pod, empty as it may be.

What is refused here no node of the pool can ever run: the kubelet hands out the CPUs that are
not reserved, the pages of each size that were set aside, and the VFs of the node's ports.
What it can run one after the other, or on several nodes, is none of this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.text.mistakes import mistake
from plimsoll.tune.intent.hugepages import (
    PAGE_BYTES,
    RESOURCE_SUFFIX,
    Hugepages,
    PageSize,
    PodHugepages,
    bytes_of,
    memory_text,
)
from plimsoll.tune.intent.kernel import Kernel
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.intent.processor import Cpus, NumaPolicy


def check_pod_cpus(pods: Sequence[Pod], cpus: Cpus) -> None:
    """Refuse a pod of more CPUs than a node has for pods; raises a mistake below `pods`."""
    most = len(cpus.isolated.cpus)
    for place, pod in enumerate(pods):
        if pod.cpus > most:
            raise mistake(
                f"{pod.name} asks for {pod.cpus:g} CPUs, and {most} are isolated",
                f"ask for {most} at most, or isolate more",
                "pods",
                place,
                "cpus",
            )


def check_pod_pages(
    pods: Sequence[Pod], hugepages: Hugepages | None, kernel: Kernel, policy: NumaPolicy | None
) -> None:
    """Refuse a pod of pages that no node sets aside; raises a mistake below `pods`.

    Pages that the kernel's own arguments ask for are not counted, so with them nothing is said.
    """
    if sets_pages_aside(kernel):
        return
    for place, pod in enumerate(pods):
        if pod.hugepages:
            one_node = policy == "single-numa-node" and pod.qos == "guaranteed"
            _check_pages(pod.hugepages, hugepages, place, one_node=one_node)


def _check_pages(
    expected: PodHugepages, hugepages: Hugepages | None, place: int, *, one_node: bool
) -> None:
    by_node = pages_by_node(hugepages, expected.size)
    if not by_node:
        sizes = list(dict.fromkeys(each.size for each in hugepages.pages)) if hugepages else []
        raise mistake(
            f"no pages of {expected.size} are set aside on the nodes",
            f"add pages of {expected.size} to hugepages"
            + (f", or use size: {' or '.join(sizes)}" if sizes else ""),
            "pods",
            place,
            "hugepages",
            "size",
        )
    # The kubelet's memory manager takes the pages of one pod from one node, under this policy.
    apart = one_node and None not in by_node
    most = max(by_node.values()) if apart else sum(by_node.values())
    if bytes_of(expected.total) > most:
        where = (
            "on the node that has the most, and single-numa-node takes them of one"
            if apart
            else "in all"
        )
        raise mistake(
            f"{expected.total} are more than the {memory_text(most)} of such pages {where}",
            f"ask for {memory_text(most)} at most, or set more pages of "
            f"{RESOURCE_SUFFIX[expected.size]} aside",
            "pods",
            place,
            "hugepages",
            "total",
        )


def sets_pages_aside(kernel: Kernel) -> bool:
    """Whether the kernel's own arguments do, in addition to what the intent says in hugepages."""
    return any(argument.startswith("hugepages=") for argument in kernel.arguments)


def pages_by_node(hugepages: Hugepages | None, size: PageSize) -> dict[int | None, int]:
    """Bytes in pages of `size` on each NUMA node; under None, those that the kernel spreads."""
    totals: dict[int | None, int] = {}
    for each in hugepages.pages if hugepages else ():
        if each.size == size:
            totals[each.node] = totals.get(each.node, 0) + each.count * PAGE_BYTES[size]
    return totals


def vfs_by_resource(nics: Sequence[Nic]) -> dict[str, int]:
    """How many VFs a node has under each resource's name, at most.

    Only for names of which every nic names its ports: how many ports of a kind a node has, an
    intent does not tell.
    """
    divided = [nic for nic in nics if nic.resource and nic.num_vfs is not None]
    unknown = {nic.resource for nic in divided if nic.by_kind}
    totals: dict[str, int] = {}
    for nic in divided:
        if nic.resource and nic.resource not in unknown:
            ports = max(len(nic.pf_names), len(nic.pci))
            totals[nic.resource] = totals.get(nic.resource, 0) + ports * len(nic.vfs)
    return totals


def check_pod_vfs(
    pods: Sequence[Pod], expected: Sequence[Mapping[str, str]], nics: Sequence[Nic]
) -> None:
    """Refuse a pod of more VFs than a node has; `expected` are the pods' requests, in order."""
    there = vfs_by_resource(nics)
    for place, (pod, requests) in enumerate(zip(pods, expected, strict=True)):
        for resource, most in there.items():
            if (requested := int(requests.get(resource, "0"))) > most:
                raise mistake(
                    f"{pod.name} takes {requested} of {resource}, and a node has {most}",
                    "give its nic more num_vfs or a wider vf_range, or let the pod take fewer",
                    "pods",
                    place,
                    "resources" if resource in pod.resources else "networks",
                )
