"""The objects of one namespace as documents, in the order in which they are made."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.churn.workload.object_set import MOST_MOUNTED, POD_KINDS, ObjectSet, PodKind

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
        for number in range(1, min(MOST_MOUNTED, self._workload.objects.secrets) + 1):
            name = f"secret-{number}"
            yield {"name": name, "secret": {"secretName": name}}
        for number in range(1, min(MOST_MOUNTED, self._workload.objects.config_maps) + 1):
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
