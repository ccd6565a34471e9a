"""Of which resource a NetworkAttachmentDefinition takes a device."""

from __future__ import annotations

from plimsoll.tune.kubernetes.kube_object import KubeObject, annotations_of

RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName"


def resource_of(attachment: KubeObject) -> str:
    """The resource, as pods request it; empty for an attachment without devices."""
    return annotations_of(attachment).get(RESOURCE_NAME, "")
