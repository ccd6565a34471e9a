"""The objects of a workload's namespaces: how many of which kind, and each as a document."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, model_validator

from plimsoll.text.mistakes import mistake

PodKind = Literal["server", "client", "dpdk"]
POD_KINDS: tuple[PodKind, ...] = ("server", "client", "dpdk")
_MOST = 500
_Number = Annotated[StrictInt, Field(ge=0, le=_MOST)]
# Each server pod mounts four of either; a set that has fewer mounts what it has.
MAX_MOUNTED = 4


class PodGroup(BaseModel):
    """`deployments` of `replicas` pods each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    deployments: _Number = 0
    replicas: Annotated[StrictInt, Field(ge=1, le=_MOST)] = 1

    @property
    def pods(self) -> int:
        """All of them."""
        return self.deployments * self.replicas


class ObjectSet(BaseModel):
    """The objects of one namespace, by default the core RDS workload's: 128 of them, 52 pods.

    `sriov_networks` and `routes` are OpenShift's kinds; a cluster that does not serve them goes
    without, and the result says so. A load balancer is a service of that type.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    secrets: _Number = 42
    config_maps: _Number = 30
    network_policies: Annotated[StrictInt, Field(ge=0, le=3)] = 3
    sriov_networks: _Number = 3
    services: _Number = 20
    load_balancers: _Number = 1
    routes: _Number = 2
    server: PodGroup = PodGroup(deployments=15, replicas=2)
    client: PodGroup = PodGroup(deployments=10, replicas=2)
    dpdk: PodGroup = PodGroup(deployments=2, replicas=1)

    @model_validator(mode="after")
    def _has_pods(self) -> Self:
        if self.pods == 0:
            raise mistake("has no pods, whose readiness is measured", "give it a deployment")
        return self

    def group(self, kind: PodKind) -> PodGroup:
        """The deployments of a kind of pod."""
        groups = {"server": self.server, "client": self.client, "dpdk": self.dpdk}
        return groups[kind]

    @property
    def pods(self) -> int:
        """Of one namespace."""
        return sum(self.group(kind).pods for kind in POD_KINDS)

    @property
    def objects(self) -> int:
        """That the driver makes in a namespace: what controllers make of them is not counted."""
        return (
            self.secrets
            + self.config_maps
            + self.network_policies
            + self.sriov_networks
            + self.services
            + self.load_balancers
            + self.routes
            + sum(self.group(kind).deployments for kind in POD_KINDS)
        )


# By the names under which an experiment may ask for them.
RDS_CORE = ObjectSet()
SMALL = ObjectSet(
    secrets=4,
    config_maps=4,
    network_policies=1,
    sriov_networks=0,
    services=2,
    load_balancers=0,
    routes=0,
    server=PodGroup(deployments=2, replicas=2),
    client=PodGroup(deployments=1, replicas=2),
    dpdk=PodGroup(deployments=1, replicas=1),
)
OBJECT_SETS: dict[str, ObjectSet] = {"rds-core": RDS_CORE, "small": SMALL}


# Marks everything that a run makes; its value is the run's.
RUN_LABEL = "plimsoll/churn"
KIND_LABEL = "plimsoll/pod-kind"
_SECRET_BYTES = 250
_SRIOV = ("sriovnetwork.openshift.io/v1", "SriovNetwork", "sriovnetworks")
_ROUTE = ("route.openshift.io/v1", "Route", "routes")
# Kinds that a plain cluster does not serve: group and version, plural.
OPTIONAL_KINDS = ((_SRIOV[0], _SRIOV[2]), (_ROUTE[0], _ROUTE[2]))
_CPU = {"server": "25m", "client": "25m", "dpdk": "2"}
_MEMORY = {"server": "25Mi", "client": "25Mi", "dpdk": "1024M"}


@dataclass(frozen=True, slots=True)
class NewObject:
    """A document, and the path of the collection that it is posted to."""

    path: str
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Workload:
    """What every namespace of a run has. `run` marks it, and begins the namespaces' names.

    `requests` are further resources of DPDK pods, such as hugepages-1Gi; `missing` are kinds,
    by plural, that the cluster does not serve.
    """

    run: str
    objects: ObjectSet
    image: str
    requests: Mapping[str, str]
    missing: frozenset[str] = frozenset()

    def namespace(self, iteration: int) -> str:
        """The name of the namespace of an iteration, counted from 0."""
        return f"plimsoll-{self.run}-{iteration}"

    @property
    def labels(self) -> dict[str, str]:
        """On every object."""
        return {RUN_LABEL: self.run}

    @property
    def selector(self) -> str:
        """Selects them."""
        return f"{RUN_LABEL}={self.run}"

    @property
    def objects_made(self) -> int:
        """In a namespace of this cluster."""
        left_out = {"sriovnetworks": self.objects.sriov_networks, "routes": self.objects.routes}
        return self.objects.objects - sum(left_out[each] for each in self.missing)


def namespace_document(workload: Workload, iteration: int) -> NewObject:
    """The namespace itself; pods of any kind may run in it."""
    levels = ("enforce", "audit", "warn")
    labels = {f"pod-security.kubernetes.io/{level}": "privileged" for level in levels}
    metadata = {"name": workload.namespace(iteration), "labels": {**labels, **workload.labels}}
    return NewObject(
        "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    )


def namespace_objects(workload: Workload, iteration: int) -> Iterator[NewObject]:
    """All objects of the namespace: secrets first, as pods mount them, deployments last."""
    made, objects = _Maker(workload, iteration), workload.objects
    numbered: list[tuple[Callable[[int], NewObject], int]] = [
        (made.secret, objects.secrets),
        (made.config_map, objects.config_maps),
        (made.network_policy, objects.network_policies),
        (made.sriov_network, 0 if _SRIOV[2] in workload.missing else objects.sriov_networks),
        (made.server_service, objects.services),
        (made.load_balancer, objects.load_balancers),
        (made.route, 0 if _ROUTE[2] in workload.missing else objects.routes),
    ]
    for make, count in numbered:
        yield from map(make, range(1, count + 1))
    for kind in POD_KINDS:
        for number in range(1, objects.group(kind).deployments + 1):
            yield made.deployment(kind, number)


class _Maker:
    """Makes the documents of one namespace."""

    def __init__(self, workload: Workload, iteration: int) -> None:
        self._workload = workload
        self._iteration = iteration
        self._name = workload.namespace(iteration)

    def secret(self, number: int) -> NewObject:
        content = base64.b64encode(self._filler(f"secret-{number}").encode()).decode()
        return self._object("v1", "Secret", "secrets", f"secret-{number}", {"data": {"a": content}})

    def config_map(self, number: int) -> NewObject:
        name = f"config-map-{number}"
        return self._object(
            "v1", "ConfigMap", "configmaps", name, {"data": {"a": self._filler(name)}}
        )

    def network_policy(self, number: int) -> NewObject:
        """The first denies all, the second allows clients, the third what comes from outside."""
        clients = {"podSelector": {"matchLabels": {KIND_LABEL: "client"}}}
        ingress: list[Any] = [[], [{"from": [clients]}], [{"from": [{"namespaceSelector": {}}]}]]
        spec = {
            "podSelector": {} if number == 1 else {"matchLabels": {KIND_LABEL: "server"}},
            "policyTypes": ["Ingress"],
            "ingress": ingress[number - 1],
        }
        return self._object(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "networkpolicies",
            f"policy-{number}",
            {"spec": spec},
        )

    def sriov_network(self, number: int) -> NewObject:
        spec = {
            "resourceName": "intelnics" if number == 1 else "inteldpdk",
            "networkNamespace": self._name,
            "ipam": "{}",
        }
        return self._object(*_SRIOV, f"sriov-net-{self._iteration}-{number}", {"spec": spec})

    def server_service(self, number: int) -> NewObject:
        return self._service(number, f"server-{number}", "ClusterIP")

    def load_balancer(self, number: int) -> NewObject:
        return self._service(number, f"load-balancer-{number}", "LoadBalancer")

    def _service(self, number: int, name: str, kind: str) -> NewObject:
        servers = max(1, self._workload.objects.server.deployments)
        chosen = {"name": f"server-{(number - 1) % servers + 1}"}
        ports = [{"name": "http", "protocol": "TCP", "port": 80, "targetPort": 8080}]
        spec = {"selector": chosen, "ports": ports, "type": kind}
        return self._object("v1", "Service", "services", name, {"spec": spec})

    def route(self, number: int) -> NewObject:
        to = {"kind": "Service", "name": f"server-{number}"}
        return self._object(*_ROUTE, f"route-{number}", {"spec": {"to": to}})

    def deployment(self, kind: PodKind, number: int) -> NewObject:
        name = f"{kind}-{number}"
        labels = {"name": name, KIND_LABEL: kind, **self._workload.labels}
        spec = {
            "replicas": self._workload.objects.group(kind).replicas,
            "selector": {"matchLabels": {"name": name}},
            "template": {"metadata": {"labels": labels}, "spec": self._pod(kind)},
        }
        return self._object("apps/v1", "Deployment", "deployments", name, {"spec": spec})

    def _pod(self, kind: PodKind) -> dict[str, Any]:
        resources: dict[str, Any] = {"requests": {"cpu": _CPU[kind], "memory": _MEMORY[kind]}}
        if kind == "dpdk":
            # Equal requests and limits make a Guaranteed pod.
            requests = {**resources["requests"], **self._workload.requests}
            resources = {"requests": requests, "limits": requests}
        volumes = list(self._volumes()) if kind == "server" else []
        mounts = [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in volumes]
        container: dict[str, Any] = {
            "name": kind,
            "image": self._workload.image,
            "resources": resources,
            "volumeMounts": mounts,
        }
        return {
            "containers": [container],
            "volumes": volumes,
            "terminationGracePeriodSeconds": 1,
        }

    def _volumes(self) -> Iterator[dict[str, Any]]:
        for number in range(1, min(MAX_MOUNTED, self._workload.objects.secrets) + 1):
            name = f"secret-{number}"
            yield {"name": name, "secret": {"secretName": name}}
        for number in range(1, min(MAX_MOUNTED, self._workload.objects.config_maps) + 1):
            name = f"config-map-{number}"
            yield {"name": name, "configMap": {"name": name}}

    def _object(
        self, version: str, kind: str, plural: str, name: str, fields: Mapping[str, Any]
    ) -> NewObject:
        root = "/api/v1" if version == "v1" else f"/apis/{version}"
        metadata = {"name": name, "namespace": self._name, "labels": self._workload.labels}
        document = {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}
        return NewObject(f"{root}/namespaces/{self._name}/{plural}", document)

    def _filler(self, name: str) -> str:
        """Text that does not repeat, the same each time: of as many bytes as kube-burner's."""
        seed = f"{self._name}/{name}".encode()
        blocks = (hashlib.sha256(seed + bytes([n])).hexdigest() for n in range(4))
        return "".join(blocks)[:_SECRET_BYTES]
