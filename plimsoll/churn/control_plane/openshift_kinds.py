"""OpenShift's kinds of the core RDS workload, for a control plane that has none of its own.

They are stored and served, and no operator acts on them.
"""

from __future__ import annotations

import time
from typing import Any

from plimsoll.host.kubernetes.api_client import CONFLICT, ApiClient

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_KINDS = (
    ("sriovnetwork.openshift.io", "SriovNetwork", "sriovnetworks"),
    ("route.openshift.io", "Route", "routes"),
)
_LONGEST_S = 60.0


def define_openshift_kinds(client: ApiClient) -> None:
    """Define them, and wait until they are served. Raises MachineError."""
    for group, kind, plural in _KINDS:
        answer = client.create(_CRDS, _definition(group, kind, plural))
        if not answer.ok and answer.status != CONFLICT:
            raise client.refused(answer, f"the definition of {plural}")
    deadline = time.monotonic() + _LONGEST_S
    for group, _, plural in _KINDS:
        while not client.get(f"/apis/{group}/v1/{plural}").ok and time.monotonic() < deadline:
            time.sleep(0.1)


def _definition(group: str, kind: str, plural: str) -> dict[str, Any]:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": anything},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "scope": "Namespaced",
            "versions": [version],
        },
    }
