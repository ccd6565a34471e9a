"""What pods attach to: SR-IOV policies and networks, and NetworkAttachmentDefinitions.

What pods attach to: NetworkAttachmentDefinitions, and SriovNetworks that make them. The first
article writes the attachment of VFs by hand; the SR-IOV operator makes the same of a SriovNetwork
(fields as in its api/v1/sriovnetwork_types.go at commit 249e2001), and would overwrite one of that
name, so the written one is an alternative.

The SriovNetworkNodePolicy: into how many functions a card is divided, and whose they are. Fields
as in api/v1/sriovnetworknodepolicy_types.go of k8snetworkplumbingwg/sriov-network-operator at
commit 249e2001.

Policies for a kind of card: they take every port of it, the node's own uplink too. The SR-IOV
operator leaves no port out by itself: `Selected` in api/v1/helper.go of
k8snetworkplumbingwg/sriov-network-operator at commit 249e2001 compares what the selector has and
nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from plimsoll.text.counted import counted
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.network import MacvlanAttachment, Network, SriovAttachment
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.render.files.cni import (
    bridge_config,
    ipam_json,
    macvlan_config,
    sriov_config,
    switch_word,
)
from plimsoll.tune.render.files.rendered_file import (
    Manifest,
    RenderedFile,
    manifest_of,
    manifest_text,
)

_STATES = "oc get sriovnetworknodestates -n openshift-sriov-network-operator -o yaml"


def wide_selectors(intent: Intent) -> Iterator[Nic]:
    """The nics whose policy has neither the names of ports nor their addresses."""
    if intent.platform == "openshift":
        yield from (nic for nic in intent.nics if nic.num_vfs is not None and nic.by_kind)


def danger_of(nic: Nic) -> str:
    """What its policy takes, as a sentence."""
    return (
        f"nic {nic.name} selects every port {nic.kind} of each node, one that carries the node's "
        "own traffic too, and divides it."
    )


def narrowing_of(nic: Nic) -> str:
    """How to narrow it, as sentences in Markdown."""
    return (
        f"Name its ports in the intent, `pf_names: [...]` or `pci: [...]` of the nic "
        f"{nic.name}, and render anew; `{_STATES}` lists them under `status.interfaces`."
    )


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


_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"


def render_networks(intent: Intent, _: Pool) -> Iterator[RenderedFile]:
    """One file for each attachment; two for one of VFs, of which one is applied."""
    for network in intent.networks:
        if isinstance(network, SriovAttachment):
            yield from _sriov_files(intent, network)
            continue
        yield RenderedFile(
            f"2-network/60-network-{network.name}.yaml",
            manifest_text(network_attachment(intent, network)),
            does=f"Lets pods attach to {network.kind} on {network.master}.",
            undo=_delete(network.name, intent.namespace_of_network(network)),
        )


def _sriov_files(intent: Intent, network: SriovAttachment) -> Iterator[RenderedFile]:
    namespace = intent.namespace_of_network(network)
    yield RenderedFile(
        f"2-network/60-sriov-network-{network.name}.yaml",
        manifest_text(sriov_network(intent, network)),
        does=f"Lets pods in {namespace} attach to VFs of {network.nic}: the SR-IOV operator makes "
        "a NetworkAttachmentDefinition of it.",
        undo=f"`oc delete sriovnetwork {network.name} -n {NAMESPACE}`",
    )
    yield RenderedFile(
        f"alternatives/network-{network.name}.yaml",
        manifest_text(network_attachment(intent, network)),
        does=f"The attachment {network.name} itself, **instead of** its SriovNetwork, for clusters "
        "without the SR-IOV operator.",
        undo=_delete(network.name, namespace),
    )


def sriov_network(intent: Intent, network: SriovAttachment) -> Manifest:
    """The SR-IOV operator's object."""
    nic = intent.nic(network.nic)
    requested = {
        "capabilities": json.dumps(network.capabilities) if network.capabilities else None,
        "ipam": ipam_json(network.ipam),
        "linkState": network.link_state,
        "maxTxRate": network.max_tx_rate_mbps,
        "minTxRate": network.min_tx_rate_mbps,
        "networkNamespace": intent.namespace_of_network(network),
        "resourceName": nic.resource_name,
        "spoofChk": switch_word(nic.spoofchk),
        "trust": switch_word(nic.trust),
        "vlan": nic.vlan,
        "vlanQoS": network.vlan_qos,
    }
    spec = {field: value for field, value in requested.items() if value is not None}
    return manifest_of(API, "SriovNetwork", network.name, namespace=NAMESPACE, spec=spec)


def network_attachment(intent: Intent, network: Network) -> Manifest:
    """The NetworkAttachmentDefinition, whose one value is JSON.

    Multus hands the plugin the pod's VF only where the annotation names its resource, which
    the article's excerpt leaves out.
    """
    annotations: dict[str, str] = {}
    if isinstance(network, SriovAttachment):
        nic = intent.nic(network.nic)
        config = sriov_config(nic, network)
        if nic.resource:
            annotations[_RESOURCE] = nic.resource
    elif isinstance(network, MacvlanAttachment):
        config = macvlan_config(network)
    else:
        config = bridge_config(network)
    return manifest_of(
        "k8s.cni.cncf.io/v1",
        "NetworkAttachmentDefinition",
        network.name,
        namespace=intent.namespace_of_network(network),
        annotations=annotations,
        spec={"config": config},
    )


def _delete(name: str, namespace: str) -> str:
    return f"`oc delete network-attachment-definition {name} -n {namespace}`"
