"""The KubeletConfig: the CPU manager, for pools that no performance profile tunes.

As in the article "DPDK latency in OpenShift - Part II". Several KubeletConfigs of one pool are
not merged, and the one made last counts (openshift/openshift-docs, pull request 118856), so
next to a performance profile, of which the operator makes one, this is an alternative.
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.intent.cluster import CpuManager, Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.manifest import Manifest, manifest_of, manifest_text
from plimsoll.tune.render.files.rendered_file import RenderedFile

_NAME = "cpumanager-enabled"


def render_kubelet_config(intent: Intent, pool: Pool) -> Iterator[RenderedFile]:
    """Only where the intent asks for the CPU manager by itself."""
    if intent.cluster.cpu_manager is None:
        return
    yield RenderedFile(
        "alternatives/kubelet-config.yaml",
        manifest_text(kubelet_config(intent.cluster.cpu_manager)),
        does="The kubelet's CPU manager for a pool **without** the performance profile, which sets "
        "it itself. Of two for one pool the one made last counts: the topology policy and the "
        "reserved CPUs would be lost. Select the pool with "
        f"`oc label machineconfigpool {pool.role} custom-kubelet={_NAME}`.",
        undo=f"`oc delete kubeletconfig {_NAME}`",
        notes=("Not for a pool that a performance profile tunes: see README.md.",),
    )


def kubelet_config(cpu_manager: CpuManager) -> Manifest:
    """The object, for the pools labelled custom-kubelet=cpumanager-enabled."""
    kubelet: dict[str, str] = {"cpuManagerPolicy": cpu_manager.policy}
    if cpu_manager.reconcile_period_s is not None:
        kubelet["cpuManagerReconcilePeriod"] = f"{cpu_manager.reconcile_period_s}s"
    return manifest_of(
        "machineconfiguration.openshift.io/v1",
        "KubeletConfig",
        _NAME,
        spec={
            "machineConfigPoolSelector": {"matchLabels": {"custom-kubelet": _NAME}},
            "kubeletConfig": kubelet,
        },
    )
