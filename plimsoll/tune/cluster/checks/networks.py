"""110: the attachments that pods join."""

from __future__ import annotations

from functools import partial

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok
from plimsoll.tune.cluster.kinds import NETWORK_ATTACHMENT, SRIOV_NETWORK
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    abbreviated,
    judge_each,
    judge_found,
    judge_object,
    sum_up,
)
from plimsoll.tune.cluster.objects.expected_objects import expected_attachment, expected_network
from plimsoll.tune.cluster.selected_networks import RESOURCE_NAME, resource_of
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.network import Network, SriovAttachment
from plimsoll.tune.kubernetes.kube_object import KubeObject
from plimsoll.tune.render.openshift.networks import NAMESPACE


def _judge(view: ClusterView, intent: Intent) -> CheckJudgement:
    return judge_each(
        intent.networks,
        partial(_judge_network, view, intent),
        none="the intent has no networks",
        sound=f"as intended: {abbreviated(each.name for each in intent.networks)}",
    )


def _judge_network(view: ClusterView, intent: Intent, network: Network) -> CheckJudgement:
    """An attachment of VFs is the SR-IOV operator's, or the user's own instead."""
    expected = expected_attachment(intent, network)
    if not isinstance(network, SriovAttachment):
        return judge_object(view, expected)
    made_by = view.find(SRIOV_NETWORK, network.name, NAMESPACE)
    found = view.find(NETWORK_ATTACHMENT, network.name, intent.namespace_of_network(network))
    if made_by is not None:
        of_network = judge_found(expected_network(intent, network), made_by)
        return sum_up([of_network, _judge_made(intent, network, found)])
    if found is not None:
        return judge_found(expected, found)
    return judge_object(view, expected_network(intent, network))


def _judge_made(
    intent: Intent, network: SriovAttachment, found: KubeObject | None
) -> CheckJudgement:
    """What the operator made of a SriovNetwork: there, and of the right resource."""
    namespace = intent.namespace_of_network(network)
    title = f"NetworkAttachmentDefinition {namespace}/{network.name}"
    if found is None:
        return fail(
            f"the SR-IOV operator has made no {title} of its SriovNetwork",
            expected=title,
            steps=[advice(f"check that the namespace {namespace} exists")],
        )
    resource = resource_of(found)
    expected = intent.nic(network.nic).resource or ""
    read = Reading(f'{title} metadata.annotations["{RESOURCE_NAME}"]', resource or "not set")
    if resource != expected:
        return fail(
            f"{title} is of {resource or 'no resource'}, not of {expected}", read, expected=expected
        )
    return ok(f"{title} is of {resource}", read)


CHECK = ClusterCheck(
    number=110,
    name="networks",
    title="The networks that pods join are as intended",
    reads=(SRIOV_NETWORK, NETWORK_ATTACHMENT),
    why=(
        "Multus hands a pod its VF by the resource that the attachment names, with the VLAN, "
        "trust and spoof check that it sets. Another attachment is another network."
    ),
    fix="Apply the rendered SriovNetworks, or attachments where there is no SR-IOV operator.",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator, api/v1/sriovnetwork_types.go",
        "Kubernetes Network Custom Resource Definition De-facto Standard",
    ),
    rule=_judge,
)
