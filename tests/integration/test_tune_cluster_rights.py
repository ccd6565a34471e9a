"""What lets the pods of a cluster in, one thing changed at a time: check 118 turns alone.

See test_tune_cluster.py for what is real here. Pod security and RBAC are the server's own; no
admission by OpenShift's constraints is behind their objects.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.cluster.audit_command import assert_turned, audited
from tests.integration.cluster.change import Change, Manifest, changed, missing
from tests.integration.cluster.owner import Refused
from tests.integration.cluster.presets import DETERMINISTIC, as_intended
from tests.integration.cluster.served import ServedCluster


@pytest.fixture(scope="module")
def deterministic(kube_cluster: ServedCluster) -> Iterator[list[Manifest]]:
    """What was applied for a cluster that is as the preset wants it."""
    there = as_intended(DETERMINISTIC)
    kube_cluster.owner.apply_all(there)
    yield there
    kube_cluster.owner.clear()


def test_the_namespace_has_to_let_in_what_the_pod_is_given(
    kube_cluster: ServedCluster, deterministic: list[Manifest]
) -> None:
    """Kubernetes' own admission, by the label that is rendered: one level less is too little."""
    given = {each["kind"]: each for each in deterministic if "status" not in each}
    pod = given["Pod"]
    labels = given["Namespace"]["metadata"]["labels"]
    enforced = "pod-security.kubernetes.io/enforce"
    another = {**pod, "metadata": pod["metadata"] | {"name": "another"}}
    kube_cluster.owner.patch(given["Namespace"], {"metadata": {"labels": {enforced: "baseline"}}})
    try:
        with pytest.raises(Refused, match=r'violates PodSecurity "baseline:latest".*IPC_LOCK'):
            kube_cluster.owner.apply(another)
    finally:
        kube_cluster.owner.patch(given["Namespace"], {"metadata": {"labels": labels}})
    kube_cluster.owner.apply(another)
    kube_cluster.owner.delete(another)


CHANGES = [
    Change(
        "the namespace is too strict for the pod",
        *("Namespace", "reghwol"),
        {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}},
        {118: ("fail", "is restricted, not privileged")},
    ),
    Change(
        "the namespace has other labels besides, and warns sooner",
        *("Namespace", "reghwol"),
        {"metadata": {"labels": {"team": "a", "pod-security.kubernetes.io/warn": "baseline"}}},
        {},
    ),
    Change(
        "the constraint takes the capability away",
        *("SecurityContextConstraints", "reghwol-dataplane", {"allowedCapabilities": []}),
        {118: ("fail", "allowedCapabilities lacks IPC_LOCK")},
    ),
    Change(
        "the constraint lets containers be privileged",
        *("SecurityContextConstraints", "reghwol-dataplane", {"allowPrivilegedContainer": True}),
        {118: ("warn", "allowPrivilegedContainer is true, not false")},
    ),
    Change(
        "everybody may use the constraint",
        *("SecurityContextConstraints", "reghwol-dataplane"),
        {"groups": ["system:authenticated"]},
        {118: ("warn", "groups has system:authenticated, which nobody asked for")},
    ),
    Change(
        "the constraint is tried first",
        *("SecurityContextConstraints", "reghwol-dataplane", {"priority": 10}),
        {},
    ),
    Change(
        "the role is of every constraint",
        *("Role", "use-dataplane-constraint", {"rules": [{
            "apiGroups": ["security.openshift.io"],
            "resources": ["securitycontextconstraints"],
            "verbs": ["use"],
        }]}),
        {118: ("warn", "rules[0].resourceNames has *")},
    ),
    Change(
        "the role is bound to another account",
        *("RoleBinding", "use-dataplane-constraint"),
        {"subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "reghwol"}]},
        {118: ("fail", 'subjects lacks {"kind": "ServiceAccount", "name": "dataplane"')},
    ),
    Change(
        "pods under the account get its token",
        *("ServiceAccount", "dataplane", {"automountServiceAccountToken": None}),
        {118: ("warn", "automountServiceAccountToken is true, not false")},
    ),
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.title)
def test_what_is_changed_is_told(
    kube_cluster: ServedCluster, deterministic: list[Manifest], change: Change
) -> None:
    with changed(kube_cluster.owner, change, deterministic):
        told = audited(kube_cluster.config, DETERMINISTIC)
    assert_turned(told, DETERMINISTIC, change.turned)
    assert audited(kube_cluster.config, DETERMINISTIC).status == 0


@pytest.mark.parametrize(
    ("kind", "name", "turned"),
    [
        ("ServiceAccount", "dataplane", {118: ("fail", "there is no ServiceAccount")}),
        (
            "SecurityContextConstraints",
            "reghwol-dataplane",
            {118: ("fail", "there is no SecurityContextConstraints")},
        ),
        ("Role", "use-dataplane-constraint", {118: ("fail", "there is no Role ")}),
        ("RoleBinding", "use-dataplane-constraint", {118: ("fail", "there is no RoleBinding")}),
    ],
)
def test_what_is_missing_is_told(
    kube_cluster: ServedCluster,
    deterministic: list[Manifest],
    kind: str,
    name: str,
    turned: dict[int, tuple[str, str]],
) -> None:
    with missing(kube_cluster.owner, kind, name, deterministic):
        told = audited(kube_cluster.config, DETERMINISTIC)
    assert_turned(told, DETERMINISTIC, turned)
