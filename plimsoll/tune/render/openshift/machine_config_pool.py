"""The MachineConfigPool: which nodes, where they are neither all workers nor the masters.

Workload partitioning: the platform's own pods stay on the reserved CPUs. Names and contents as in
the article "DPDK latency in OpenShift - Part II".
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from plimsoll.tune.expected.kubelet import crio_workload_partitioning, kubelet_workload_partitioning
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.rendered_file import (
    Manifest,
    RenderedFile,
    manifest_of,
    manifest_text,
)

_ROLE = "machineconfiguration.openshift.io/role"
# Every cluster has pools of these names.
BUILT_IN = frozenset({"master", "worker", "arbiter"})
# What the Machine Config Operator of OpenShift 4.6 and later reads.
_IGNITION = "3.2.0"


def render_machine_config_pool(_: Intent, pool: Pool) -> Iterator[RenderedFile]:
    """None for the pools that every cluster has."""
    if pool.role in BUILT_IN:
        return
    node_label = ", ".join(f"{key}={value}" for key, value in pool.node_labels.items())
    yield RenderedFile(
        "1-node/10-machine-config-pool.yaml",
        manifest_text(machine_config_pool(pool)),
        does=f"Makes the pool {pool.role} of the nodes labelled `{node_label}`; they also keep the "
        "MachineConfigs of workers.",
        undo="Take the label off the nodes, wait until they are back in worker, then "
        f"`oc delete machineconfigpool {pool.role}`.",
    )


def machine_config_pool(pool: Pool) -> Manifest:
    """The object, with the label by which the performance profile finds it."""
    roles = {"key": _ROLE, "operator": "In", "values": ["worker", pool.role]}
    return manifest_of(
        "machineconfiguration.openshift.io/v1",
        "MachineConfigPool",
        pool.role,
        labels=dict(pool.selector) if pool.selector else {_ROLE: pool.role},
        spec={
            "machineConfigSelector": {"matchExpressions": [roles]},
            "nodeSelector": {"matchLabels": pool.node_labels},
        },
    )


# MachineConfigs: files and systemd units that OpenShift puts on every node of a pool.
def machine_config(
    name: str,
    pool: Pool,
    files: list[dict[str, Any]],
    units: list[dict[str, Any]] | None = None,
) -> Manifest:
    """A MachineConfig for the nodes of `pool`."""
    config: dict[str, Any] = {"ignition": {"version": _IGNITION}, "storage": {"files": files}}
    if units:
        config["systemd"] = {"units": units}
    return manifest_of(
        "machineconfiguration.openshift.io/v1",
        "MachineConfig",
        name,
        labels=pool.machine_config_labels,
        spec={"config": config},
    )


def ignition_file(path: str, text: str, mode: int = 0o644) -> dict[str, Any]:
    """A file of Ignition: its text in base64, `mode` as the decimal number JSON has."""
    body = base64.b64encode(text.encode()).decode()
    return {
        "contents": {"source": f"data:text/plain;charset=utf-8;base64,{body}"},
        "mode": mode,
        "overwrite": True,
        "path": path,
        "user": {"name": "root"},
    }


_CRIO = "/etc/crio/crio.conf.d/01-workload-partitioning"
_KUBELET = "/etc/kubernetes/openshift-workload-pinning"


def render_workload_partitioning(intent: Intent, pool: Pool) -> Iterator[RenderedFile]:
    """Only where the intent switches it on."""
    if not intent.cluster.workload_partitioning:
        return
    yield RenderedFile(
        "1-node/30-machine-config-workload-partitioning.yaml",
        manifest_text(workload_partitioning(intent, pool)),
        does="Keeps the platform's own pods on the reserved CPUs. Works only in a cluster that was "
        "installed for it; from OpenShift 4.13 on, installed with cpuPartitioningMode: AllNodes, "
        "the Node Tuning Operator writes such files itself and this one is not needed.",
        undo="It cannot be taken back on a running cluster.",
    )


def workload_partitioning(intent: Intent, pool: Pool) -> Manifest:
    """The MachineConfig with CRI-O's file and the kubelet's."""
    return machine_config(
        partitioning_name(pool),
        pool,
        [
            ignition_file(_CRIO, crio_workload_partitioning(intent)),
            ignition_file(_KUBELET, kubelet_workload_partitioning(intent)),
        ],
    )


def partitioning_name(pool: Pool) -> str:
    """The MachineConfig's name."""
    return f"02-{pool.role}-workload-partitioning"
