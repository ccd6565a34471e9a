"""CRDs of the kinds that an audit reads, for a server that has none yet.

The CRDs themselves, files that the operators' repositories have and that any cluster gives
(`oc get crd NAME -o yaml`), where a contributor has put them; else made of the OpenAPI that
an OpenShift cluster published of its own (`make cluster-openapi`), which lacks the former
versions of a kind and nothing else that counts here.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from tests.integration.cluster.control_plane import BUILT, ROOT, CannotServe

GIVEN = BUILT / "crds"
PUBLISHED = ROOT / "build" / "cluster-openapi" / "kinds.json.gz"
# What the server itself makes of every object, and a schema must not say again.
_OWN = ("apiVersion", "kind", "metadata")


@dataclass(frozen=True)
class CustomKind:
    """A CRD's names, which the OpenAPI of its objects does not have."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = False
    # Whether the status is written through a path of its own, as by a controller.
    status: bool = True

    @property
    def name(self) -> str:
        return f"{self.plural}.{self.group}"


_MACHINES = "machineconfiguration.openshift.io"
_SRIOV = "sriovnetwork.openshift.io"
_TUNED = "tuned.openshift.io"
# By hand from the CRDs in openshift/api, cluster-node-tuning-operator, sriov-network-operator
# and network-attachment-definition-client.
KINDS = (
    CustomKind("performance.openshift.io", "v2", "PerformanceProfile", "performanceprofiles"),
    CustomKind(_TUNED, "v1", "Tuned", "tuneds", namespaced=True),
    CustomKind(_TUNED, "v1", "Profile", "profiles", namespaced=True),
    CustomKind(_MACHINES, "v1", "MachineConfigPool", "machineconfigpools"),
    CustomKind(_MACHINES, "v1", "MachineConfig", "machineconfigs", status=False),
    CustomKind(_MACHINES, "v1", "KubeletConfig", "kubeletconfigs"),
    CustomKind(_SRIOV, "v1", "SriovNetworkNodePolicy", "sriovnetworknodepolicies", namespaced=True),
    CustomKind(_SRIOV, "v1", "SriovNetworkNodeState", "sriovnetworknodestates", namespaced=True),
    CustomKind(_SRIOV, "v1", "SriovNetwork", "sriovnetworks", namespaced=True),
    CustomKind(
        "k8s.cni.cncf.io",
        "v1",
        "NetworkAttachmentDefinition",
        "network-attachment-definitions",
        namespaced=True,
        status=False,
    ),
    CustomKind(
        "security.openshift.io",
        "v1",
        "SecurityContextConstraints",
        "securitycontextconstraints",
        status=False,
    ),
    CustomKind("operator.openshift.io", "v1", "Console", "consoles"),
    CustomKind("operator.openshift.io", "v1", "Network", "networks"),
)


def find_crds() -> list[dict[str, Any]]:
    """One for each kind. Raises CannotServe where there is nothing to make them of."""
    if GIVEN.is_dir():
        given = {each["metadata"]["name"]: each for each in _given_crds()}
        if missing := sorted({kind.name for kind in KINDS} - given.keys()):
            raise CannotServe(f"{GIVEN} has no CRD {', '.join(missing)}")
        return [given[kind.name] for kind in KINDS]
    if not PUBLISHED.exists():
        raise CannotServe("there are no CRDs, nor OpenAPI to make them of (make cluster-openapi)")
    with gzip.open(PUBLISHED) as file:
        published = json.load(file)
    return [_made_crd(kind, published) for kind in KINDS]


def _given_crds() -> Iterator[dict[str, Any]]:
    """Without what only a server writes."""
    for path in sorted(GIVEN.glob("*.yaml")):
        for found in filter(None, yaml.safe_load_all(path.read_text())):
            metadata = {
                field: value
                for field, value in found["metadata"].items()
                if field in ("name", "annotations", "labels")
            }
            yield {**found, "metadata": metadata, "status": {}}


def _made_crd(kind: CustomKind, published: dict[str, Any]) -> dict[str, Any]:
    expected = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    # SecurityContextConstraints are there twice: first the CRD, then the API server's of old.
    schema = next(
        each
        for each in published[kind.kind.lower()]
        if expected in each["x-kubernetes-group-version-kind"]
    )
    properties = {name: of for name, of in schema["properties"].items() if name not in _OWN}
    required = [name for name in schema.get("required", []) if name not in _OWN]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.name},
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
            },
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [
                {
                    "name": kind.version,
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": properties,
                            **({"required": required} if required else {}),
                        }
                    },
                    **({"subresources": {"status": {}}} if kind.status else {}),
                }
            ],
        },
    }
