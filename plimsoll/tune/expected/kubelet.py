"""The kubelet's settings that the Node Tuning Operator makes of a performance profile.

Values as in openshift/cluster-node-tuning-operator, releases 4.16 to 5.1
(components/kubeletconfig/kubeletconfig.go). Fields that the operator writes with the value
of "not set" (0s, empty) are left out. Up to 4.22 it copies the profile's text of the reserved
CPUs, and since then writes the short form that is here: the same CPUs.
"""

from __future__ import annotations

from typing import Any

from plimsoll.tune.intent.intent import Intent

# The operator's defaults: 500Mi each for the kubelet and the system, and 100Mi before
# pods are evicted; a node's reserved memory is their sum.
_EVICTION = {
    "imagefs.available": "15%",
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
}
_RESERVED = {"memory": "500Mi"}
_RESERVED_ON_NODE_0 = [{"numaNode": 0, "limits": {"memory": "1100Mi"}}]


def expected_kubelet(intent: Intent) -> dict[str, Any]:
    """The fields of the KubeletConfiguration; empty where the platform is not OpenShift."""
    if intent.platform != "openshift":
        return {}
    policy = intent.numa_policy or "best-effort"
    settings: dict[str, Any] = {
        "cpuManagerPolicy": "static",
        "cpuManagerReconcilePeriod": "5s",
        "evictionHard": dict(_EVICTION),
        "kubeReserved": dict(_RESERVED),
        "reservedSystemCPUs": intent.cpus.reserved.canonical,
        "systemReserved": dict(_RESERVED),
        "topologyManagerPolicy": policy,
    }
    if policy in ("restricted", "single-numa-node"):
        settings |= {"memoryManagerPolicy": "Static", "reservedMemory": list(_RESERVED_ON_NODE_0)}
    if policy == "single-numa-node":
        settings["cpuManagerPolicyOptions"] = {"full-pcpus-only": "true"}
    return settings
