"""What to know before a rendering is applied: sound in some clusters, and a mistake in others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.text.counted import counted
from plimsoll.tune.intent.hugepages import PageSize, bytes_of, memory_text
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import RESOURCE_PREFIX
from plimsoll.tune.intent.pod import pages_by_node, sets_pages_aside, vfs_by_resource
from plimsoll.tune.render.openshift.networks import danger_of, narrowing_of, wide_selectors

_TOGETHER = (
    "Let them run one after the other or on several nodes, or ask for less: of those that do not "
    "fit, some wait."
)


@dataclass(frozen=True, slots=True)
class RenderWarning:
    """`text` is a sentence for the terminal and for README.md, `remedy` Markdown for that alone."""

    text: str
    remedy: str


def warnings_of(intent: Intent) -> Iterator[RenderWarning]:
    """All of them, the gravest first."""
    for nic in wide_selectors(intent):
        yield RenderWarning(danger_of(nic), narrowing_of(nic))
    if intent.platform == "openshift":
        yield from _for_good(intent)
        yield from _whole_ports(intent)
        yield from _last_cpus(intent)
        yield from _unowned_resources(intent)
        yield from _extra(intent)
    yield from _together(intent)


def _extra(intent: Intent) -> Iterator[RenderWarning]:
    """Nothing of it was checked, neither by itself nor against the rest of the intent."""
    for each in intent.extra:
        yield RenderWarning(
            f"{each.title} has fields of the intent's extra: {', '.join(each.paths)}.",
            "They take the place of what was rendered, and they are not checked: try them "
            "first with `oc apply --dry-run=server -f FILE`.",
        )


def _for_good(intent: Intent) -> Iterator[RenderWarning]:
    """What cannot be taken back, what it overwrites, and what older releases refuse."""
    if intent.cluster.workload_partitioning:
        yield RenderWarning(
            "workload partitioning works only in a cluster that was installed for it, and cannot "
            "be taken back on a running one.",
            "Leave its MachineConfig out where the cluster was not, and from OpenShift 4.13 on, "
            "where `cpuPartitioningMode: AllNodes` does the same.",
        )
    if intent.cluster.reduced_monitoring is not None:
        yield RenderWarning(
            "cluster-monitoring-config takes the place of one that the cluster may have already.",
            "`oc get configmap cluster-monitoring-config -n openshift-monitoring -o yaml` shows "
            "it: put what is to stay into the rendered file.",
        )
    if intent.kernel.page_size is not None:
        # In the CRD since the operator's branch release-4.18.
        yield RenderWarning(
            "kernelPageSize is known to OpenShift 4.18 and later: earlier ones refuse the profile.",
            "Leave `kernel.page_size` out for them.",
        )


def _whole_ports(intent: Intent) -> Iterator[RenderWarning]:
    for nic in intent.nics:
        if nic.num_vfs is None:
            yield RenderWarning(
                f"nic {nic.name} has no num_vfs, and the SR-IOV operator hands out VFs alone: "
                "nothing is rendered for it.",
                "Give it `num_vfs` and `resource_name`, if pods are to have it; one VF will do.",
            )


def _last_cpus(intent: Intent) -> Iterator[RenderWarning]:
    """The cluster's own daemons request CPUs of the same account, unless they are partitioned."""
    if intent.cluster.workload_partitioning:
        return
    isolated = len(intent.cpus.isolated.cpus)
    for pod in intent.pods:
        if pod.cpus == isolated:
            yield RenderWarning(
                f"pod {pod.name} asks for every isolated CPU ({isolated}), of which the platform's "
                "own pods on each node request a part.",
                "Ask for one less, or install the cluster with workload partitioning.",
            )


def _unowned_resources(intent: Intent) -> Iterator[RenderWarning]:
    """Names that a policy for the SR-IOV operator gives, and none of these policies does."""
    given = {nic.resource for nic in intent.nics if nic.num_vfs is not None}
    for pod in intent.pods:
        for name in pod.resources:
            if name.startswith(f"{RESOURCE_PREFIX}/") and name not in given:
                yield RenderWarning(
                    f"pod {pod.name} asks for {name}, which no nic of the intent gives.",
                    "Give a nic that `resource_name`, and `num_vfs`, unless a policy that is in "
                    "the cluster already has it: without, the pod waits.",
                )


def _together(intent: Intent) -> Iterator[RenderWarning]:
    """All pods at once on one node; a generator and its DUT are often on two."""
    if len(intent.pods) < 2:
        return
    isolated = len(intent.cpus.isolated.cpus)
    requested = sum(pod.cpus for pod in intent.pods)
    if requested > isolated:
        yield _warning(f"{requested:g} CPUs", f"{isolated} isolated")
    yield from _pages_together(intent)
    requests = [intent.resources_of(pod) for pod in intent.pods]
    for resource, there in vfs_by_resource(intent.nics).items():
        expected = sum(int(each.get(resource, "0")) for each in requests)
        if expected > there:
            yield _warning(f"{counted(expected, 'VF')} of {resource}", str(there))


def _pages_together(intent: Intent) -> Iterator[RenderWarning]:
    if sets_pages_aside(intent.kernel):
        return
    requested: dict[PageSize, int] = {}
    for pod in intent.pods:
        if pod.hugepages:
            size = pod.hugepages.size
            requested[size] = requested.get(size, 0) + bytes_of(pod.hugepages.total)
    for size, expected in requested.items():
        there = sum(pages_by_node(intent.hugepages, size).values())
        if expected > there:
            yield _warning(f"{memory_text(expected)} in pages of {size}", memory_text(there))


def _warning(requested: str, there: str) -> RenderWarning:
    return RenderWarning(
        f"all pods together ask for {requested}, and one node has {there}.", _TOGETHER
    )
