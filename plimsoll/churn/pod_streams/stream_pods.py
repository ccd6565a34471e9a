"""The pods at the ends of streams, as manifests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.churn.latency.probes import LatencyProbeSettings
from plimsoll.churn.pod_streams.pod_agent import FOLDER, READY
from plimsoll.churn.pod_streams.probe_agent import probe_command, reflect_command
from plimsoll.churn.pod_streams.stream_agent import client_command, server_command
from plimsoll.churn.streams.iperf3 import FIRST_PORT, TcpStreamPlan
from plimsoll.host.kubernetes.own_objects import (
    MANAGED,
    NETWORKS,
    NODE_LABEL,
    guaranteed,
    without_rights,
)
from plimsoll.text.named_program import NotRun
from plimsoll.tune.intent.fields.section import ObjectName
from plimsoll.tune.render.files.rendered_file import Manifest, manifest_of

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


StreamSide = Literal["client", "server"]
STREAM_SIDES: tuple[StreamSide, ...] = ("client", "server")

# On each of them; its value is the run's.
_STREAMS_LABEL = "plimsoll/streams"
_SIDE_LABEL, _PAIR_LABEL = "plimsoll/side", "plimsoll/pair"
# The containers of a pod, of which the second is there where a pair is probed.
STREAM, PROBE = "stream", "probe"
# Python and a thousand datagrams a second; of less than a CPU, so that it takes no whole one.
_PROBE_RESOURCES = {"cpu": "200m", "memory": "128Mi"}
# Of a run that no one ends any more.
_LONGEST_LIFE_S = 7 * 24 * 3600
_GRACE_S = 5


@dataclass(frozen=True, slots=True)
class StreamPodPlan:
    """The pods of one cell: of the run `mark`, for the metrics' `period`, on one network."""

    mark: str
    period: str
    pods: StreamPods
    network: ClusterNetwork
    stream: TcpStreamPlan
    probe: LatencyProbeSettings | None = None

    @property
    def selector(self) -> str:
        """Selects the pods of all cells of the run."""
        return streams_selector(self.mark)

    def name(self, side: StreamSide, pair: int) -> str:
        """Of a pod."""
        return f"plimsoll-{self.mark}-{self.period}-{side}-{pair}"

    def port(self, pair: int) -> int:
        """Of a pair's server; those on one node's own network share its address."""
        return FIRST_PORT + (pair if isinstance(self.network, NodeNetwork) else 0)

    def probed(self, pair: int) -> bool:
        """Whether UDP is sent next to the pair's stream."""
        return self.probe is not None and pair <= self.probe.pairs

    def server(self, pair: int) -> Manifest:
        """A pod that serves one stream."""
        port = self.port(pair)
        stream = self._streaming(server_command(self.stream, port))
        # On the nodes' own network the scheduler keeps two that want one port apart.
        host = {"hostPort": port} if isinstance(self.network, NodeNetwork) else {}
        stream["ports"] = [{"containerPort": port, **host}]
        return self._pod("server", pair, stream, reflect_command(port))

    def client(self, pair: int, address: str) -> Manifest:
        """A pod that sends to that server."""
        port = self.port(pair)
        stream = self._streaming(client_command(self.stream, port, address))
        pps = self.probe.pps if self.probe else 0
        return self._pod("client", pair, stream, probe_command(port, address, pps))

    def _pod(
        self, side: StreamSide, pair: int, stream: dict[str, Any], probing: Sequence[str]
    ) -> Manifest:
        labels = {
            **MANAGED,
            _STREAMS_LABEL: self.mark,
            _SIDE_LABEL: side,
            _PAIR_LABEL: f"{self.mark}-{self.period}-{pair}",
        }
        network = self.network
        annotations = {}
        if isinstance(network, AttachedNetwork):
            annotations[NETWORKS] = network.attachment
        containers = [stream]
        if self.probed(pair):
            containers.append(self._container(PROBE, probing, _PROBE_RESOURCES))
        nodes = self.pods.client_nodes if side == "client" else self.pods.server_nodes
        spec = {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "activeDeadlineSeconds": _LONGEST_LIFE_S,
            "terminationGracePeriodSeconds": _GRACE_S,
            **({"hostNetwork": True} if isinstance(network, NodeNetwork) else {}),
            **({"nodeSelector": dict(nodes)} if nodes else {}),
            "affinity": _apart(labels[_PAIR_LABEL]),
            "topologySpreadConstraints": [_spread(self.mark, side)],
            "containers": containers,
            "volumes": [{"name": each["name"], "emptyDir": {}} for each in containers],
        }
        name = self.name(side, pair)
        return manifest_of("v1", "Pod", name, labels=labels, annotations=annotations, spec=spec)

    def _streaming(self, command: Sequence[str]) -> dict[str, Any]:
        resources = {"cpu": self.pods.cpu, "memory": self.pods.memory}
        if isinstance(self.network, AttachedNetwork):
            resources |= self.network.resources
        return self._container(STREAM, command, resources)

    def _container(
        self, name: str, command: Sequence[str], resources: Mapping[str, str]
    ) -> dict[str, Any]:
        """One with a volume of its own, ready once its first process says so there."""
        ready = ["test", "-e", str(FOLDER / READY)]
        return {
            "name": name,
            "image": self.pods.image,
            "command": list(command),
            "resources": guaranteed(resources),
            "securityContext": without_rights(),
            "readinessProbe": {"exec": {"command": ready}, "periodSeconds": 1},
            "volumeMounts": [{"name": name, "mountPath": str(FOLDER)}],
        }


def streams_selector(mark: str) -> str:
    """Selects all pods that a run makes for its streams."""
    return f"{_STREAMS_LABEL}={mark}"


def pods_path(namespace: str) -> str:
    """Of the collection of pods of a namespace."""
    return f"/api/v1/namespaces/{namespace}/pods"


def _apart(pair: str) -> dict[str, Any]:
    """Client and server of a pair on two nodes, if there are two."""
    term = {"labelSelector": {"matchLabels": {_PAIR_LABEL: pair}}, "topologyKey": NODE_LABEL}
    weighted = {"weight": 100, "podAffinityTerm": term}
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}}


def _spread(mark: str, side: StreamSide) -> Mapping[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": NODE_LABEL,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {_STREAMS_LABEL: mark, _SIDE_LABEL: side}},
    }
