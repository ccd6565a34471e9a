"""Workload partitioning: the platform's own pods stay on the reserved CPUs.

Names and contents as in the article "DPDK latency in OpenShift - Part II".
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.expected.crio import crio_workload_partitioning, kubelet_workload_partitioning
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.manifest import Manifest, manifest_text
from plimsoll.tune.render.files.rendered_file import RenderedFile
from plimsoll.tune.render.openshift.machine_config_pool import ignition_file, machine_config

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
