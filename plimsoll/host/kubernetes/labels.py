"""Labels and annotations of objects that more than one part of us writes."""

from __future__ import annotations

# On all that we make.
MANAGED = {"app.kubernetes.io/managed-by": "plimsoll"}
# On each node, its own name.
NODE_LABEL = "kubernetes.io/hostname"
# On a pod, the NetworkAttachmentDefinitions that it has next to the cluster's network.
NETWORKS = "k8s.v1.cni.cncf.io/networks"
