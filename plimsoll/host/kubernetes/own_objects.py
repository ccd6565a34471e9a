"""What all objects of ours in a cluster have: labels, and no more rights than needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# On all that we make.
MANAGED = {"app.kubernetes.io/managed-by": "plimsoll"}
# On each node, its own name.
NODE_LABEL = "kubernetes.io/hostname"
# On a pod, the NetworkAttachmentDefinitions that it has next to the cluster's network.
NETWORKS = "k8s.v1.cni.cncf.io/networks"


# The image has a user of no rights, and OpenShift gives each namespace users of its own: its
# default constraint (restricted-v2) refuses a pod that names another one.
NOT_ROOT = {"runAsNonRoot": True}


def without_rights(user: Mapping[str, Any] = NOT_ROOT) -> dict[str, Any]:
    """The security context of a container that has no capabilities, and a root it cannot write.

    `user` is the part that says as whom it runs.
    """
    return {
        "seccompProfile": {"type": "RuntimeDefault"},
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        **user,
    }


def guaranteed(resources: Mapping[str, str]) -> dict[str, Any]:
    """Limits that equal requests, as of a guaranteed pod."""
    return {"limits": dict(resources), "requests": dict(resources)}
