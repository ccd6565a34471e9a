"""109: how each node's ports really are divided."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    warn,
)
from plimsoll.tune.cluster.dataplane_pods import need_pool_nodes
from plimsoll.tune.cluster.kinds import NODE, SRIOV_NODE_STATE
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    abbreviated,
    judge_each,
    sum_up,
)
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.kubernetes.kube_object import (
    KubeObject,
    items_at,
    name_of,
    number_at,
    text_at,
)
from plimsoll.tune.render.openshift.networks import NAMESPACE

_VFIO = "vfio-pci"
# As the kernel and the operator write it: 25000 Mb/s.
_SPEED = re.compile(r"(\d{1,9}) Mb/s")


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> CheckJudgement:
    if not any(nic.num_vfs for nic in intent.nics):
        return not_applicable("the intent divides no nic")
    nodes = need_pool_nodes(view, pool)
    return judge_each(
        nodes,
        partial(_judge_node, view, intent),
        none="the pool has no nodes",
        sound="the ports of every node of the pool are divided as intended",
    )


def _judge_node(view: ClusterView, intent: Intent, node: KubeObject) -> CheckJudgement:
    name = name_of(node)
    found = view.find(SRIOV_NODE_STATE, name, NAMESPACE)
    if found is None:
        return fail(
            f"node {name} has no SriovNetworkNodeState",
            expected="one for each node",
            steps=[advice("check that the SR-IOV operator's daemon runs on the node")],
        )
    nics = [nic for nic in intent.nics if nic.num_vfs is not None]
    return sum_up([_judge_sync(found, name), *(_judge_nic(found, name, nic) for nic in nics)])


def _judge_sync(found: KubeObject, node: str) -> CheckJudgement:
    status = text_at(found, "status", "syncStatus")
    read = Reading(f"SriovNetworkNodeState {node} status.syncStatus", status or "not set")
    if status == "Succeeded":
        return ok(f"node {node} is in step with its policies", read)
    if status == "Failed":
        error = text_at(found, "status", "lastSyncError") or "it does not say why"
        return fail(f"node {node} cannot divide its ports: {error}", read, expected="Succeeded")
    return warn(f"node {node} is still dividing its ports", read, expected="Succeeded")


def _judge_nic(found: KubeObject, node: str, nic: Nic) -> CheckJudgement:
    ports = [each for each in items_at(found, "status", "interfaces") if _is_of(each, nic)]
    where = f"SriovNetworkNodeState {node} status.interfaces"
    named = abbreviated((*nic.pf_names, *nic.pci)) or f"vendor {nic.vendor}"
    seen = {name for each in ports for name in (*_names(each), text_at(each, "pciAddress"))}
    if not ports:
        return fail(
            f"node {node} has no port of nic {nic.name}", Reading(where, "none"), expected=named
        )
    if missing := [each for each in (*nic.pf_names, *nic.pci) if each not in seen]:
        return fail(
            f"node {node} has no port {abbreviated(missing)}",
            Reading(where, "none"),
            expected=named,
        )
    return sum_up(_judge_port(port, where, node, nic) for port in ports)


def _judge_port(port: KubeObject, where: str, node: str, nic: Nic) -> CheckJudgement:
    name = text_at(port, "name") or text_at(port, "pciAddress")
    place = f"{where}[{name}]"
    amiss = list(_faults(port, nic))
    if not amiss:
        return ok(f"{name} of node {node} is as intended", Reading(place, "as intended"))
    faults = abbreviated(f"{field} is {value}, not {expected}" for field, value, expected in amiss)
    return fail(
        f"{name} of node {node}: {faults}",
        *(Reading(f"{place}.{field}", value) for field, value, _ in amiss),
        expected=abbreviated(f"{field} {expected}" for field, _, expected in amiss),
        steps=[
            advice(f"apply the rendered SriovNetworkNodePolicy {nic.name}, and see its sync status")
        ],
    )


def _faults(port: KubeObject, nic: Nic) -> Iterator[tuple[str, str, str]]:
    """Field, value, expected."""
    if (vfs := number_at(port, "numVfs") or 0) != nic.num_vfs:
        yield "numVfs", str(vfs), str(nic.num_vfs)
    if nic.mtu is not None and (mtu := number_at(port, "mtu")) != nic.mtu:
        yield "mtu", str(mtu), str(nic.mtu)
    speed = _SPEED.fullmatch(text_at(port, "linkSpeed"))
    if nic.link_speed_gbps and (not speed or int(speed[1]) != nic.link_speed_gbps * 1000):
        expected = f"{nic.link_speed_gbps * 1000} Mb/s"
        yield "linkSpeed", text_at(port, "linkSpeed") or "not set", expected
    if "driver" not in nic.model_fields_set:
        return
    for function in items_at(port, "Vfs"):
        number = number_at(function, "vfID")
        driver = text_at(function, "driver") or "none"
        if number in nic.vfs and (driver == _VFIO) != (nic.driver == _VFIO):
            expected = _VFIO if nic.driver == _VFIO else "the kernel's own"
            yield f"Vfs[{number}].driver", driver, expected


def _is_of(port: KubeObject, nic: Nic) -> bool:
    if nic.pf_names or nic.pci:
        return text_at(port, "pciAddress") in nic.pci or not set(nic.pf_names).isdisjoint(
            _names(port)
        )
    of_vendor = text_at(port, "vendor") == nic.vendor
    return of_vendor and nic.device_id in (None, text_at(port, "deviceID"))


def _names(port: KubeObject) -> tuple[str, ...]:
    """The port's name, and its alternative ones."""
    more = port.get("altNames")
    names = [text_at(port, "name"), *(more if isinstance(more, list) else [])]
    return tuple(each for each in names if isinstance(each, str))


CHECK = ClusterCheck(
    number=109,
    name="sriov-node-states",
    title="The ports of every node are divided as intended",
    reads=(NODE, SRIOV_NODE_STATE),
    why=(
        "A policy that a node could not carry out leaves ports without functions, or functions "
        "with a driver that DPDK cannot use; pods then wait for a resource that never comes."
    ),
    fix="Resolve what the node's last synchronisation reports, then wait for Succeeded.",
    sources=("k8snetworkplumbingwg/sriov-network-operator, api/v1/sriovnetworknodestate_types.go",),
    pool_rule=_judge,
)
