"""The kubelet's settings that the Node Tuning Operator makes of a performance profile.

Values as in openshift/cluster-node-tuning-operator, releases 4.16 to 5.1
(components/kubeletconfig/kubeletconfig.go). Fields that the operator writes with the value
of "not set" (0s, empty) are left out. Up to 4.22 it copies the profile's text of the reserved
CPUs, and since then writes the short form that is here: the same CPUs.

CRI-O's settings on an OpenShift node: its runtime handler, and whose pods go where. The handler's
values as in openshift/cluster-node-tuning-operator, releases 4.16 to 5.1
(assets/performanceprofile/configs/99-runtimes.conf); the two files of workload partitioning as in
the article "DPDK latency in OpenShift - Part II", byte for byte.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.intent.hugepages import memory_text
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import parse_quantity

# The annotation of a performance profile whose JSON the operator starts from.
ANNOTATION = "kubeletconfig.experimental"
# What keeps memory from pods, of which the intent says something in `kubelet` alone.
MEMORY_FIELDS = ("evictionHard", "kubeReserved", "systemReserved", "reservedMemory")

# The operator's defaults: 500Mi each for the kubelet and the system, and 100Mi before
# pods are evicted; a node's reserved memory is their sum.
_EVICTION = {
    "imagefs.available": "15%",
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
}
_RESERVED = {"memory": "500Mi"}


def expected_kubelet(intent: Intent) -> dict[str, Any]:
    """The fields of the KubeletConfiguration; empty where the platform is not OpenShift."""
    if intent.platform != "openshift":
        return {}
    policy = intent.numa_policy or "best-effort"
    given: dict[str, Any] = copy.deepcopy(dict(intent.kubelet or {}))
    settings: dict[str, Any] = given | {
        "cpuManagerPolicy": "static",
        "cpuManagerReconcilePeriod": "5s",
        "evictionHard": _EVICTION | _fields(given, "evictionHard"),
        "kubeReserved": _RESERVED | _fields(given, "kubeReserved"),
        "reservedSystemCPUs": format_cpu_list(intent.cpus.housekeeping),
        "systemReserved": _RESERVED | _fields(given, "systemReserved"),
        "topologyManagerPolicy": policy,
    }
    if policy in ("restricted", "single-numa-node"):
        settings["memoryManagerPolicy"] = "Static"
        settings.setdefault("reservedMemory", _reserved_on_node_0(settings))
    if policy == "single-numa-node":
        whole = {"full-pcpus-only": "true"}
        settings["cpuManagerPolicyOptions"] = whole | _fields(given, "cpuManagerPolicyOptions")
    return settings


def _fields(given: dict[str, Any], name: str) -> dict[str, Any]:
    found = given.get(name)
    return found if isinstance(found, dict) else {}


def _reserved_on_node_0(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The sum of what is kept back, as the kubelet itself demands; all on the first node.

    Raises ValueError for an amount that is none, a share of the memory among them, with which
    the operator cannot do it either.
    """
    parts = (
        settings["kubeReserved"]["memory"],
        settings["systemReserved"]["memory"],
        settings["evictionHard"]["memory.available"],
    )
    amount = memory_text(int(sum(map(parse_quantity, parts))))
    return [{"numaNode": 0, "limits": {"memory": amount}}]


RUNTIME_HANDLER = "high-performance"


@dataclass(frozen=True, slots=True)
class Crio:
    """What a pod names, and what is named there."""

    runtime_handler: str
    runtime_class: str


def expected_crio(intent: Intent) -> Crio | None:
    """None where the platform is not OpenShift."""
    if intent.platform != "openshift":
        return None
    return Crio(
        runtime_handler=RUNTIME_HANDLER,
        runtime_class=f"performance-{intent.name}",
    )


def crio_workload_partitioning(intent: Intent) -> str:
    """CRI-O's part: pods with the annotation run on the reserved CPUs.

    Without cpushares = 0 CRI-O does not accept the table.
    """
    return (
        "[crio.runtime.workloads.management]\n"
        'activation_annotation = "target.workload.openshift.io/management"\n'
        'annotation_prefix = "resources.workload.openshift.io"\n'
        f'resources = {{ "cpushares" = 0, "cpuset" = "{intent.cpus.reserved.text}" }}\n'
        "\n"
    )


def kubelet_workload_partitioning(intent: Intent) -> str:
    """The kubelet's part: which pods are the platform's own, and the same CPUs."""
    pinning = {"management": {"cpuset": intent.cpus.reserved.text}}
    return json.dumps(pinning, indent=2) + "\n"
