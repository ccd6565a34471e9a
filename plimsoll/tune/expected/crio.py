"""CRI-O's settings on an OpenShift node: its runtime handler, and whose pods go where.

The handler's values as in openshift/cluster-node-tuning-operator, releases 4.16 to 5.1
(assets/performanceprofile/configs/99-runtimes.conf); the two files of workload partitioning
as in the article "DPDK latency in OpenShift - Part II", byte for byte.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from plimsoll.tune.intent.intent import Intent

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
