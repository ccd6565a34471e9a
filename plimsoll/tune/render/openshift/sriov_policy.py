"""The SriovNetworkNodePolicy: into how many functions a card is divided, and whose they are.

Fields as in api/v1/sriovnetworknodepolicy_types.go of
k8snetworkplumbingwg/sriov-network-operator at commit 249e2001.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.text.counted import counted
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.render.files.manifest import Manifest, manifest_of, manifest_text
from plimsoll.tune.render.files.rendered_file import RenderedFile
from plimsoll.tune.render.openshift.wide_selector import danger_of

API = "sriovnetwork.openshift.io/v1"
# The operator reads policies and networks of its own namespace only.
NAMESPACE = "openshift-sriov-network-operator"


def render_sriov_policies(intent: Intent, pool: Pool) -> Iterator[RenderedFile]:
    """One for each nic that is divided."""
    for nic in intent.nics:
        if nic.num_vfs is None:
            continue
        ports = ", ".join((*nic.pf_names, *nic.pci)) or f"the kind {nic.kind}"
        yield RenderedFile(
            f"2-network/50-sriov-policy-{nic.name}.yaml",
            manifest_text(sriov_policy(nic, nic.num_vfs, pool)),
            does=f"Divides each port of {ports} into {counted(nic.num_vfs, 'VF')}, for "
            f"{nic.driver}, which pods ask for as `{nic.resource}`. The SR-IOV operator may drain "
            "and restart nodes.",
            undo=f"`oc delete sriovnetworknodepolicy {nic.name} -n {NAMESPACE}`",
            notes=(f"Beware: {danger_of(nic)} See README.md.",) if nic.by_kind else (),
        )


def sriov_policy(nic: Nic, num_vfs: int, pool: Pool) -> Manifest:
    """The object; mlx5 cards are netdevice with isRdma, which the intent has checked."""
    span = f"#{nic.vf_range}" if nic.vf_range else ""
    selector = {
        "vendor": nic.vendor,
        "deviceID": nic.device_id,
        "pfNames": [f"{name}{span}" for name in nic.pf_names] or None,
        "rootDevices": list(nic.pci) or None,
    }
    spec: dict[str, Any] = {
        "deviceType": nic.driver,
        "excludeTopology": nic.exclude_topology,
        "isRdma": nic.rdma,
        "linkType": nic.link_type,
        "mtu": nic.mtu,
        "needVhostNet": nic.vhost_net,
        "nicSelector": {field: value for field, value in selector.items() if value is not None},
        "nodeSelector": pool.node_labels if nic.node_selector is None else dict(nic.node_selector),
        "numVfs": num_vfs,
        "priority": nic.priority,
        "resourceName": nic.resource_name,
    }
    spec = {field: value for field, value in spec.items() if value is not None}
    return manifest_of(API, "SriovNetworkNodePolicy", nic.name, namespace=NAMESPACE, spec=spec)
