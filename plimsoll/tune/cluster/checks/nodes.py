"""112: the pool's nodes, and what they have to give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok, warn
from plimsoll.tune.cluster.dataplane_pods import kernel_of, need_pool_nodes
from plimsoll.tune.cluster.kinds import NODE
from plimsoll.tune.cluster.object_judgement import ClusterCheck, ClusterView, judge_each, sum_up
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.hugepages import PAGE_BYTES, RESOURCE_SUFFIX, PageSize
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import (
    KubeObject,
    is_true,
    name_of,
    parse_quantity,
    value_at,
)

# RHEL 8's 4.18.0-305.rt7.72.el8 and RHEL 9's 5.14.0-427.el9.x86_64+rt.
_REALTIME = re.compile(r"\.rt\d|\+rt\b")


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> CheckJudgement:
    nodes = need_pool_nodes(view, pool)
    return judge_each(
        nodes,
        partial(_judge_node, intent),
        none="the pool has no nodes",
        sound="every node of the pool is ready, with what the intent sets aside",
    )


def _judge_node(intent: Intent, node: KubeObject) -> CheckJudgement:
    return sum_up([_judge_ready(node), _judge_kernel(intent, node), *_judge_amounts(intent, node)])


def _judge_ready(node: KubeObject) -> CheckJudgement:
    name = name_of(node)
    read = Reading(
        f"Node {name} status.conditions", "Ready" if is_true(node, "Ready") else "not Ready"
    )
    if not is_true(node, "Ready"):
        return fail(f"node {name} is not ready", read, expected="Ready True")
    if value_at(node, "spec", "unschedulable") is True:
        step = advice(f"oc adm uncordon {name}, once its maintenance is over")
        return warn(f"node {name} takes no pods: it is cordoned", read, steps=[step])
    return ok(f"node {name} is ready", read)


def _judge_kernel(intent: Intent, node: KubeObject) -> CheckJudgement:
    name, release = name_of(node), kernel_of(node)
    read = Reading(f"Node {name} status.nodeInfo.kernelVersion", release or "not set")
    if "realtime" not in intent.kernel.model_fields_set:
        return ok(f"node {name} runs {release}", read)
    expected = "the real-time kernel" if intent.kernel.realtime else "no real-time kernel"
    if bool(_REALTIME.search(release)) != intent.kernel.realtime:
        return fail(f"node {name} runs the kernel {release}", read, expected=expected)
    return ok(f"node {name} runs {release}", read, expected=expected)


def _judge_amounts(intent: Intent, node: KubeObject) -> Iterator[CheckJudgement]:
    """CPUs exactly; hugepages and VFs at least, for other policies may add to them."""
    reserved, isolated = len(intent.cpus.reserved), len(intent.cpus.isolated)
    yield _judge_amount(node, "capacity", "cpu", str(reserved + isolated), exact=True)
    yield _judge_amount(node, "allocatable", "cpu", str(isolated), exact=True)
    for resource, expected in _pages(intent).items():
        yield _judge_amount(node, "allocatable", resource, expected)
    for resource, functions in _functions(intent).items():
        yield _judge_amount(node, "allocatable", resource, str(functions))


def _pages(intent: Intent) -> dict[str, str]:
    """The memory in pages of each size, over all NUMA nodes: hugepages-1Gi, 16Gi."""
    totals: dict[PageSize, int] = {}
    for each in intent.hugepages.pages if intent.hugepages else ():
        totals[each.size] = totals.get(each.size, 0) + each.count * PAGE_BYTES[each.size]
    return {f"hugepages-{RESOURCE_SUFFIX[size]}": _memory(total) for size, total in totals.items()}


def _memory(count: int) -> str:
    """Bytes, whole Ki at least, as Kubernetes writes them."""
    for unit, shift in (("Gi", 30), ("Mi", 20)):
        if count % (1 << shift) == 0:
            return f"{count >> shift}{unit}"
    return f"{count >> 10}Ki"


def _functions(intent: Intent) -> dict[str, int]:
    """How many VFs a node has of each resource; one port where the intent does not name them."""
    found: dict[str, int] = {}
    for nic in intent.nics:
        if nic.resource and nic.num_vfs:
            ports = len(nic.pf_names) + len(nic.pci) or 1
            found[nic.resource] = found.get(nic.resource, 0) + ports * len(nic.vfs)
    return found


def _judge_amount(
    node: KubeObject, field: str, resource: str, expected: str, *, exact: bool = False
) -> CheckJudgement:
    name = name_of(node)
    given = value_at(node, "status", field, resource)
    read = Reading(f"Node {name} status.{field}[{resource}]", str(given or 0))
    try:
        found = parse_quantity(given or 0)
    except ValueError:
        found = Fraction(-1)
    words = f"{'' if exact else 'at least '}{expected} of {resource}"
    least = parse_quantity(expected)
    if found == least or (found > least and not exact):
        return ok(f"node {name} has {words}", read, expected=words)
    return fail(
        f"node {name} has {given or 0} of {resource} ({field}), not {expected}",
        read,
        expected=words,
        steps=[advice(f"see on node {name} why it does not have what the intent sets aside")],
    )


CHECK = ClusterCheck(
    number=112,
    name="nodes",
    title="The pool's nodes are ready and have what the intent sets aside",
    reads=(NODE,),
    why=(
        "What a node can give to pods is the sum of all settings: CPUs that are not reserved, "
        "hugepages that the kernel really got, VFs that the device plugin found."
    ),
    fix="Compare the intent with the hardware of the node, and read the node's conditions.",
    sources=(
        "Kubernetes, Reserve Compute Resources for System Daemons: allocatable",
        "Kubernetes, Device Plugins",
    ),
    pool_rule=_judge,
)
