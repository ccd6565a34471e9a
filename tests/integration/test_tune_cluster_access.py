"""Who may read a real cluster: rights, tokens, certificates, and what is said without them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.host.kubernetes.api_client import connect
from plimsoll.tune.cluster.document import cluster_document
from plimsoll.tune.cluster.kinds import ROLE, ROLE_BINDING, SERVICE_ACCOUNT_OF_PODS
from tests.integration.cluster import kubeconfig
from tests.integration.cluster.audit_command import audited, refused
from tests.integration.cluster.change import Manifest
from tests.integration.cluster.credentials import Authority, claims_of
from tests.integration.cluster.presets import (
    ALL_CHECKS,
    DETERMINISTIC,
    NOT_APPLICABLE,
    PRESETS,
    VDU,
    as_intended,
    verdicts_when_all_acted,
)
from tests.integration.cluster.served import ServedCluster
from tests.integration.command import until

# Somebody who may do nothing yet.
ACCOUNT: Manifest = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "auditor", "namespace": "plimsoll"},
}
RBAC = "rbac.authorization.k8s.io"

pytestmark = pytest.mark.full


@pytest.fixture
def empty(kube_cluster: ServedCluster) -> Iterator[ServedCluster]:
    yield kube_cluster
    kube_cluster.owner.clear()


def documented_role() -> dict[str, Any]:
    found = re.search(r"```yaml\n(.*?)```", cluster_document(), re.DOTALL)
    assert found
    role: dict[str, Any] = yaml.safe_load(found[1])
    return role


def binding(role: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "auditor"},
        "roleRef": {"apiGroup": RBAC, "kind": role["kind"], "name": role["metadata"]["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": "auditor", "namespace": "plimsoll"}],
    }


@pytest.fixture
def auditor(empty: ServedCluster, tmp_path: Path) -> Path:
    """A kubeconfig with the token of an account that has no rights yet."""
    empty.owner.apply_all([ACCOUNT])
    path = tmp_path / "auditor.kubeconfig"
    path.write_text(empty.plane.kubeconfig_with(empty.owner.token("plimsoll", "auditor")))
    return path


@pytest.mark.parametrize("intent", PRESETS)
def test_the_documented_role_is_enough(empty: ServedCluster, auditor: Path, intent: str) -> None:
    role = documented_role()
    empty.owner.apply_all([*as_intended(intent), role, binding(role)])
    # The server learns of a role from its store, a moment later.
    until(lambda: audited(auditor, intent).verdicts[101] != "unknown", "the role to count")
    report = audited(auditor, intent)
    assert report.verdicts == verdicts_when_all_acted(intent), report.texts


def test_without_rights_each_check_names_the_one_that_it_takes(
    empty: ServedCluster, auditor: Path
) -> None:
    empty.owner.apply_all(as_intended(DETERMINISTIC))
    report = audited(auditor, DETERMINISTIC)
    assert report.verdicts == {
        number: "not-applicable" if number in (106, 111) else "unknown" for number in ALL_CHECKS
    }
    assert report.status == 0
    assert report.texts[101] == (
        "performanceprofiles.performance.openshift.io may not be read without more privileges "
        '(403 User "system:serviceaccount:plimsoll:auditor" cannot list resource '
        '"performanceprofiles" in API group "performance.openshift.io" at the cluster scope)'
    )
    for number, resource in {
        102: "machineconfigpools",
        103: "machineconfigs",
        105: "runtimeclasses",
        107: "nodes",
        108: "sriovnetworknodepolicies",
        110: "sriovnetworks",
        112: "nodes",
        **dict.fromkeys(range(113, 118), "pods"),
        118: "rolebindings",
    }.items():
        assert f'cannot list resource "{resource}"' in report.texts[number]


def test_the_documented_role_shows_no_others_accounts_and_roles(
    empty: ServedCluster, auditor: Path
) -> None:
    """Of those, only objects of the rendered names may be listed."""
    role = documented_role()
    empty.owner.apply_all([role, binding(role)])
    client = connect(kubeconfig=str(auditor))
    for kind in (SERVICE_ACCOUNT_OF_PODS, ROLE, ROLE_BINDING):
        named = [("fieldSelector", f"metadata.name={kind.only}")]
        until(lambda k=kind, q=named: client.get(k.path, q).status == 200, "the role to count")
        assert client.get(kind.path).status == 403
        other = [("fieldSelector", "metadata.name=another")]
        assert client.get(kind.path, other).status == 403


@pytest.mark.parametrize(
    ("resource", "intent", "unknown"),
    [
        ("performanceprofiles", DETERMINISTIC, {101}),
        ("tuneds", VDU, {106}),
        ("profiles", DETERMINISTIC, {107}),
        # Which KubeletConfig is for the pool, the pool's labels tell.
        ("machineconfigpools", DETERMINISTIC, {102, 103, 104}),
        ("machineconfigs", DETERMINISTIC, {103}),
        ("kubeletconfigs", DETERMINISTIC, {104}),
        ("runtimeclasses", DETERMINISTIC, {105}),
        ("sriovnetworknodepolicies", DETERMINISTIC, {108}),
        ("sriovnetworknodestates", DETERMINISTIC, {109}),
        ("sriovnetworks", DETERMINISTIC, {110}),
        ("network-attachment-definitions", DETERMINISTIC, {110, 116}),
        ("nodes", DETERMINISTIC, {107, 109, 112}),
        ("pods", DETERMINISTIC, {113, 114, 115, 116, 117}),
        ("configmaps", VDU, {111}),
        ("networks", VDU, {111}),
        ("consoles", VDU, {111}),
        ("namespaces", DETERMINISTIC, {118}),
        ("serviceaccounts", DETERMINISTIC, {118}),
        ("securitycontextconstraints", DETERMINISTIC, {118}),
        ("roles", DETERMINISTIC, {118}),
        ("rolebindings", DETERMINISTIC, {118}),
    ],
)
def test_no_right_of_the_documented_role_is_idle(
    empty: ServedCluster, auditor: Path, resource: str, intent: str, unknown: set[int]
) -> None:
    role = documented_role()
    for rule in role["rules"]:
        rule["resources"] = [each for each in rule["resources"] if each != resource]
    role["rules"] = [rule for rule in role["rules"] if rule["resources"]]
    empty.owner.apply_all([*as_intended(intent), role, binding(role)])
    requested_for_more = {
        number for number in ALL_CHECKS if number not in NOT_APPLICABLE[intent]
    } - unknown
    until(
        lambda: (
            {n for n, v in audited(auditor, intent).verdicts.items() if v == "ok"}
            == requested_for_more
        ),
        "the role to count",
    )
    report = audited(auditor, intent)
    for number in unknown:
        assert report.verdicts[number] == "unknown"
        assert f'cannot list resource "{resource}"' in report.texts[number]


def test_an_expired_token(empty: ServedCluster, auditor: Path, tmp_path: Path) -> None:
    token = json.loads(auditor.read_text())["users"][0]["user"]["token"]
    old = empty.plane.tokens.expired_token(claims_of(token))
    (tmp_path / "old").write_text(empty.plane.kubeconfig_with(old))
    status, said = refused(tmp_path / "old", DETERMINISTIC)
    assert status == 3
    assert "the API server does not know who asks" in said
    assert "log in again (oc login)" in said
    assert old not in said


def test_a_certificate_of_another_authority(kube_cluster: ServedCluster, tmp_path: Path) -> None:
    forged = Authority("test").for_user("owner", ["system:masters"])
    own = kube_cluster.plane.authority.certificate
    (tmp_path / "forged").write_text(
        kubeconfig.with_certificate(kube_cluster.plane.url, own, forged)
    )
    status, said = refused(tmp_path / "forged", DETERMINISTIC)
    assert status == 3
    assert "the API server does not know who asks" in said


def test_a_server_of_another_authority_is_sent_nothing(
    kube_cluster: ServedCluster, tmp_path: Path
) -> None:
    other = Authority("other").certificate
    (tmp_path / "other").write_text(kubeconfig.with_token(kube_cluster.plane.url, other, "secret"))
    status, said = refused(tmp_path / "other", DETERMINISTIC)
    assert status == 3
    assert f"{kube_cluster.plane.url}: the API server's certificate is not trusted: " in said
    assert "certificate-authority-data" in said


def test_a_server_under_another_name(kube_cluster: ServedCluster, tmp_path: Path) -> None:
    url = kube_cluster.plane.url.replace("127.0.0.1", "localhost")
    own = kube_cluster.plane.authority.certificate
    (tmp_path / "named").write_text(kubeconfig.with_token(url, own, "secret"))
    status, said = refused(tmp_path / "named", DETERMINISTIC)
    assert status == 3
    assert "certificate is not trusted: " in said
    assert "'localhost'" in said
