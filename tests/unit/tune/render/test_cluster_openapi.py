"""Every rendered object against the OpenAPI of a cluster's kinds (`make cluster-openapi`)."""

from copy import deepcopy
from typing import Any

import pytest

from tests.unit.tune.render import cluster_openapi
from tests.unit.tune.render.example_intents import INTENTS, manifests

pytestmark = pytest.mark.skipif(
    not cluster_openapi.is_there(), reason="the OpenAPI is not fetched: make cluster-openapi"
)
OBJECTS = {
    f"{name}: {path}": manifest
    for name in INTENTS
    for path, manifest in manifests(name).items()
    # Of roles it has the names of its parts and not the parts: see test_core_kinds.py.
    if not manifest["apiVersion"].startswith("rbac.")
}
ONE_OF_EACH_KIND = {manifest["kind"]: manifest for manifest in reversed(OBJECTS.values())}


@pytest.mark.parametrize("manifest", OBJECTS.values(), ids=list(OBJECTS))
def test_a_cluster_takes_it(manifest: dict[str, Any]) -> None:
    assert cluster_openapi.mistakes_in(manifest) == []


@pytest.mark.parametrize("kind", ONE_OF_EACH_KIND)
def test_an_unknown_field_would_be_noticed(kind: str) -> None:
    for place in ([], ["metadata"], ["spec"]):
        changed = deepcopy(ONE_OF_EACH_KIND[kind])
        if place == ["spec"] and "spec" not in changed:
            continue
        target = changed[place[0]] if place else changed
        target["surprise"] = 1
        assert len(cluster_openapi.mistakes_in(changed)) == 1


@pytest.mark.parametrize(
    ("kind", "place", "value", "mistake"),
    [
        ("PerformanceProfile", "cpu.isolated", 3, "3 is not of type 'string'"),
        ("PerformanceProfile", "hugepages.pages.0.count", "4", "is not of type 'integer'"),
        ("PerformanceProfile", "numa", [], "is not of type 'object'"),
        ("SriovNetworkNodePolicy", "deviceType", "uio", "not one of ['netdevice', 'vfio-pci']"),
        ("SriovNetworkNodePolicy", "nicSelector.pciAddress", "x", "'pciAddress' was unexpected"),
        ("SriovNetwork", "trust", "yes", "'yes' is not one of ['on', 'off']"),
        ("SriovNetwork", "vlan", 4097, "is greater than the maximum of 4096"),
        ("Tuned", "profile.0.data", {}, "is not of type 'string'"),
        ("Console", "managementState", "Gone", "does not match"),
        ("NetworkAttachmentDefinition", "config", {}, "is not of type 'string'"),
        ("SecurityContextConstraints", "allowHostPID", "no", "is not of type 'boolean'"),
        ("SecurityContextConstraints", "runAsUser", {"user": 0}, "'user' was unexpected"),
    ],
)
def test_what_a_cluster_refuses_would_be_noticed(
    kind: str, place: str, value: object, mistake: str
) -> None:
    changed = deepcopy(ONE_OF_EACH_KIND[kind])
    *way, last = (int(part) if part.isdecimal() else part for part in place.split("."))
    target: Any = changed.get("spec", changed)
    for part in way:
        target = target[part]
    target[last] = value
    (found,) = cluster_openapi.mistakes_in(changed)
    assert mistake in found


def test_a_kind_that_no_cluster_has_would_be_noticed() -> None:
    changed = ONE_OF_EACH_KIND["PerformanceProfile"] | {"apiVersion": "performance.openshift.io/v3"}
    with pytest.raises(ValueError, match="no PerformanceProfile of performance"):
        cluster_openapi.mistakes_in(changed)
