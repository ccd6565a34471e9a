"""What pods attach to: NetworkAttachmentDefinitions, and SriovNetworks that make them.

The first article writes the attachment of VFs by hand; the SR-IOV operator makes the same of
a SriovNetwork (fields as in its api/v1/sriovnetwork_types.go at commit 249e2001), and would
overwrite one of that name, so the written one is an alternative.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.network import MacvlanAttachment, Network, SriovAttachment
from plimsoll.tune.render.files.cni import (
    bridge_config,
    ipam_json,
    macvlan_config,
    sriov_config,
    switch_word,
)
from plimsoll.tune.render.files.manifest import Manifest, manifest_of, manifest_text
from plimsoll.tune.render.files.rendered_file import RenderedFile
from plimsoll.tune.render.openshift.sriov_policy import API, NAMESPACE

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
