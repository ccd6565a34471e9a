"""Which networks of a cluster streams may cross, and as what pods they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.text.named_program import NotRun
from plimsoll.tune.intent.fields.section import ObjectName

# As Kubernetes has the names of objects (RFC 1123).
_NAME = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PodNetwork(_Settings):
    """The cluster's default network, such as OVN-Kubernetes: an address for each pod."""

    kind: Literal["pod-network"]


class NodeNetwork(_Settings):
    """The nodes' own network, by `hostNetwork`; the namespace has to allow it."""

    kind: Literal["host-network"]


class AttachedNetwork(_Settings):
    """A network of Multus' next to the default one, such as macvlan or an SR-IOV VF.

    `attachment` is the NetworkAttachmentDefinition, as NAME of the pods' namespace or as
    NAMESPACE/NAME. `resources` is what a pod takes of its node for it, such as a VF; OpenShift's
    network resources injector adds that itself.
    """

    kind: Literal["attachment"]
    attachment: Annotated[str, Field(pattern=f"^({_NAME}/)?{_NAME}$")]
    resources: Mapping[str, str] = {}


ClusterNetwork = PodNetwork | NodeNetwork | AttachedNetwork


class StreamPods(_Settings):
    """The pods at the ends of streams: one for each client, and one for each server.

    They are made in `namespace`, which is there already, from Plimsoll's `image`. Their requests
    are their limits, so that the kubelet gives whole CPUs to them alone where it does so. Without
    node selectors clients and servers are spread over all nodes, and a pair over two.
    """

    namespace: ObjectName
    image: Annotated[str, Field(min_length=1), NotRun("of pods, in a cluster")]
    cpu: Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+|m)?$")] = "1"
    memory: Annotated[str, Field(pattern=r"^[0-9]+(Mi|Gi)$")] = "512Mi"
    client_nodes: Mapping[str, str] = {}
    server_nodes: Mapping[str, str] = {}
