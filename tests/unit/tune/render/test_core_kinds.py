"""Rendered objects of Kubernetes' own kinds against what Kubernetes' own client knows of them.

The cluster's OpenAPI (test_cluster_openapi.py) says of a pod's containers only that they are.
"""

from copy import deepcopy
from typing import Any

import pytest

from tests.unit.tune.render import core_kinds
from tests.unit.tune.render.example_intents import INTENTS, manifests
from tests.worded.says import Says

OBJECTS = {
    f"{name}: {path}": manifest
    for name in INTENTS
    for path, manifest in manifests(name).items()
    if manifest["apiVersion"] == "v1" or manifest["apiVersion"].startswith("rbac.")
}
POD = OBJECTS["openshift-deterministic: 3-workload/70-pod-testpmd.yaml"]


@pytest.mark.parametrize("manifest", OBJECTS.values(), ids=list(OBJECTS))
def test_a_server_takes_it(manifest: dict[str, Any]) -> None:
    assert core_kinds.mistakes_in(manifest) == []


def test_all_of_these_kinds_are_rendered() -> None:
    assert {manifest["kind"] for manifest in OBJECTS.values()} == {
        "ConfigMap",
        "Namespace",
        "Pod",
        "Role",
        "RoleBinding",
        "ServiceAccount",
    }


@pytest.mark.parametrize(
    ("place", "value", "facts"),
    [
        ("spec.nodeselector", {}, ("$.spec", "nodeselector")),
        ("spec.containers.0.privileged", True, ("$.spec.containers[0]", "privileged")),
        ("spec.containers.0.resources.limits.cpu", 4, ("limits.cpu", "4")),
        ("spec.containers.0.resources.limits", [], ("resources.limits",)),
        ("spec.containers.0.securityContext.privileged", "no", ("no", "privileged")),
        ("spec.containers", {}, ("$.spec.containers",)),
        ("spec.containers.0", {"image": "x"}, ("name", "None")),
        ("metadata.annotations", {"a": True}, ("$.metadata.annotations.a",)),
    ],
)
def test_what_a_server_refuses_would_be_noticed(
    place: str, value: object, facts: tuple[str, ...], says: Says
) -> None:
    changed: Any = deepcopy(POD)
    *way, last = (int(part) if part.isdecimal() else part for part in place.split("."))
    target = changed
    for part in way:
        target = target[part]
    target[last] = value
    (found,) = core_kinds.mistakes_in(changed)
    assert found == says(*facts)
