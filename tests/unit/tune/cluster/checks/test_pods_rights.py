"""Check 118: a cluster that refuses the pods fails, one that allows them more is warned of.

What each field of a constraint allows is in security/v1 of openshift/api, levels in
Kubernetes' Pod Security Standards, wildcards and rules without names in its RBAC reference.
"""

import copy
from typing import Any

import pytest

from plimsoll.tune.audit.finding import CheckFinding
from plimsoll.tune.cluster.checks.pods_rights import CHECK
from plimsoll.tune.cluster.cluster_view import ClusterView
from plimsoll.tune.host.view.unread import UnreadCause
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.cluster.clusters import SmallCluster, cluster, intent, objects

NAMESPACE, ACCOUNT, SCC = "Namespace", "ServiceAccount", "SecurityContextConstraints"
ROLE, BINDING = "Role", "RoleBinding"
ENFORCE = "metadata/labels/pod-security.kubernetes.io~enforce"
NO_PODS = {"pods": None, "networks": None}


def judged(view: ClusterView, expected: Intent | None = None) -> CheckFinding:
    return CHECK.judge(view, expected or intent())


def changed(kind: str, path: str, value: Any) -> SmallCluster:
    """As `cluster`, with a name of a label in the path: its slash is a ~."""
    given = objects()
    (holder,) = [each for each in given if each["kind"] == kind]
    *above, last = [part.replace("~", "/") for part in path.split("/")]
    for part in above:
        holder = holder[int(part)] if isinstance(holder, list) else holder[part]
    holder[last] = value
    return SmallCluster(given)


def test_all_five_are_named_where_all_is_sound() -> None:
    finding = judged(cluster())
    assert finding.verdict == "ok"
    assert finding.text == (
        "as rendered: Namespace cnf, ServiceAccount cnf/dataplane, "
        "SecurityContextConstraints cnf-dataplane, Role cnf/use-dataplane-constraint, "
        "RoleBinding cnf/use-dataplane-constraint"
    )


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        (NAMESPACE, "Namespace cnf"),
        (ACCOUNT, "ServiceAccount cnf/dataplane"),
        (SCC, "SecurityContextConstraints cnf-dataplane"),
        (ROLE, "Role cnf/use-dataplane-constraint"),
        (BINDING, "RoleBinding cnf/use-dataplane-constraint"),
    ],
)
def test_one_that_is_not_there_fails(kind: str, title: str) -> None:
    finding = judged(cluster(without=[kind]))
    assert (finding.verdict, finding.text) == ("fail", f"there is no {title}")
    (step,) = finding.steps
    assert step.text == f"render the intent (plimsoll tune render) and apply its {title}"


@pytest.mark.parametrize(
    ("kind", "path", "value", "text"),
    [
        (NAMESPACE, ENFORCE, "baseline", "is baseline, not privileged"),
        (NAMESPACE, ENFORCE, "Privileged", "is Privileged, not privileged"),
        (NAMESPACE, "metadata/labels", {}, "is not set, and should be privileged"),
        (SCC, "allowedCapabilities", ["NET_RAW"], "allowedCapabilities lacks IPC_LOCK"),
        (SCC, "allowedCapabilities", None, "allowedCapabilities lacks IPC_LOCK"),
        (SCC, "requiredDropCapabilities", ["ALL", "KILL"], "requiredDropCapabilities has KILL"),
        (SCC, "runAsUser", {"type": "MustRunAsNonRoot"}, "runAsUser.type is MustRunAsNonRoot"),
        (SCC, "runAsUser/uid", 1000, "runAsUser.uid is 1000, not 0"),
        (SCC, "volumes", ["emptyDir"], "volumes lacks downwardAPI"),
        (SCC, "seccompProfiles", None, "seccompProfiles lacks runtime/default"),
        (SCC, "readOnlyRootFilesystem", True, "readOnlyRootFilesystem is true, not false"),
        (ROLE, "rules/0/verbs", ["get"], 'rules lacks {"apiGroups": ["security.openshift.io"]'),
        (ROLE, "rules/0/resourceNames", ["restricted-v2"], "rules lacks"),
        (ROLE, "rules", None, "rules lacks"),
        (BINDING, "roleRef/name", "view", "roleRef.name is view, not use-dataplane-constraint"),
        (BINDING, "subjects/0/name", "default", 'subjects lacks {"kind": "ServiceAccount"'),
        (BINDING, "subjects/0/namespace", "other", "subjects lacks"),
    ],
)
def test_less_than_the_pods_need_fails(kind: str, path: str, value: Any, text: str) -> None:
    finding = judged(changed(kind, path, value))
    assert (finding.verdict, text in finding.text) == ("fail", True), finding.text


@pytest.mark.parametrize(
    ("kind", "path", "value", "text"),
    [
        (ACCOUNT, "automountServiceAccountToken", None, "Token is true, not false"),
        (SCC, "allowPrivilegedContainer", True, "allowPrivilegedContainer is true, not false"),
        (SCC, "allowHostNetwork", True, "allowHostNetwork is true, not false"),
        (SCC, "allowPrivilegeEscalation", None, "allowPrivilegeEscalation is true, not false"),
        (SCC, "allowedCapabilities", ["IPC_LOCK", "SYS_ADMIN"], "has SYS_ADMIN, which is not"),
        (SCC, "allowedCapabilities", ["*"], "has *, which is not in the intent"),
        (SCC, "defaultAddCapabilities", ["NET_ADMIN"], "defaultAddCapabilities has NET_ADMIN"),
        (SCC, "requiredDropCapabilities", None, "requiredDropCapabilities lacks ALL"),
        (SCC, "runAsUser", {"type": "RunAsAny"}, "runAsUser.type is RunAsAny, not MustRunAs"),
        (SCC, "seccompProfiles", ["*"], "seccompProfiles has *, which is not in the intent"),
        (SCC, "volumes", ["downwardAPI", "emptyDir", "hostPath"], "volumes has hostPath"),
        (SCC, "groups", ["system:authenticated"], "groups has system:authenticated"),
        (SCC, "users", ["alice"], "users has alice, which is not in the intent"),
        (ROLE, "rules/0/verbs", ["use", "delete"], "rules[0].verbs has delete"),
        (ROLE, "rules/0/verbs", ["*"], "rules[0].verbs has *"),
        (ROLE, "rules/0/resourceNames", None, "rules[0].resourceNames has *"),
        (BINDING, "subjects", [
            {"kind": "Group", "name": "system:serviceaccounts"},
            {"kind": "ServiceAccount", "name": "dataplane", "namespace": "cnf"},
        ], 'subjects has {"kind": "Group", "name": "system:serviceaccounts"}'),
    ],
)  # fmt: skip
def test_more_than_the_pods_need_is_warned_of(kind: str, path: str, value: Any, text: str) -> None:
    finding = judged(changed(kind, path, value))
    assert (finding.verdict, text in finding.text) == ("warn", True), finding.text


def test_another_rule_is_warned_of() -> None:
    (role,) = [each for each in objects() if each["kind"] == ROLE]
    secrets = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
    finding = judged(changed(ROLE, "rules", [secrets, *role["rules"]]))
    assert finding.verdict == "warn"
    assert 'rules has {"apiGroups": [""], "resources": ["secrets"]' in finding.text


def test_what_is_missing_outweighs_what_is_too_much() -> None:
    view = changed(SCC, "allowPrivilegedContainer", True)
    (constraint,) = [each for each in view.given if each["kind"] == SCC]
    constraint["allowedCapabilities"] = []
    finding = judged(view)
    assert finding.verdict == "fail"
    assert "allowPrivilegedContainer is true, not false" in finding.text
    assert "allowedCapabilities lacks IPC_LOCK" in finding.text


def test_a_laxer_namespace_than_the_pods_take_is_warned_of() -> None:
    """NET_BIND_SERVICE is in the baseline, so the level that lets the pod in is lower."""
    pods = copy.deepcopy(intent().model_dump(include={"pods"}, exclude_unset=True)["pods"])
    pods[0]["capabilities"] = ["NET_BIND_SERVICE"]
    view = changed(SCC, "allowedCapabilities", ["NET_BIND_SERVICE"])
    finding = judged(view, intent(pods=pods))
    assert finding.verdict == "warn"
    assert finding.text == (
        'Namespace cnf: metadata.labels["pod-security.kubernetes.io/enforce"] is privileged, '
        "not baseline"
    )


def test_what_says_nothing_of_rights_does_not_count() -> None:
    """Which constraint is tried first, what is only reported, and what others note down."""
    assert judged(changed(SCC, "priority", 10)).verdict == "ok"
    assert judged(changed(ACCOUNT, "secrets", [{"name": "x"}])).verdict == "ok"
    labels = {
        "pod-security.kubernetes.io/enforce": "privileged",
        "pod-security.kubernetes.io/warn": "restricted",
    }
    assert judged(changed(NAMESPACE, "metadata/labels", labels)).verdict == "ok"


def test_pods_without_capabilities_take_a_namespace_and_no_rights() -> None:
    pods = [{"name": "web", "namespace": "front", "cpus": 2, "memory": "1Gi"}]
    alone = intent(pods=pods, networks=None)
    (namespace,) = [each for each in objects() if each["kind"] == NAMESPACE]
    namespace["metadata"] = {
        "name": "front",
        "labels": {"pod-security.kubernetes.io/enforce": "baseline"},
    }
    finding = judged(SmallCluster([namespace]), alone)
    assert (finding.verdict, finding.text) == ("ok", "as rendered: Namespace front")


@pytest.mark.parametrize("expected", [intent(**NO_PODS), load_preset("bare-metal")])
def test_it_does_not_apply_where_nothing_is_rendered(expected: Intent) -> None:
    assert judged(SmallCluster([]), expected).verdict == "not-applicable"


def test_the_namespace_that_every_cluster_has_is_not_requested_for() -> None:
    pods = [{"name": "web", "namespace": "default", "cpus": 2, "memory": "1Gi"}]
    finding = judged(SmallCluster([]), intent(pods=pods, networks=None))
    assert finding.verdict == "not-applicable"
    assert finding.text == (
        "the intent's pods and networks take no namespace and no right of their own"
    )


@pytest.mark.parametrize("cause", ["forbidden", "not-captured", "unreadable"])
@pytest.mark.parametrize(
    "plural",
    ["namespaces", "serviceaccounts", "securitycontextconstraints", "roles", "rolebindings"],
)
def test_what_may_not_be_listed_is_unknown_and_named(plural: str, cause: UnreadCause) -> None:
    finding = judged(SmallCluster(objects(), {plural: cause}))
    assert (finding.verdict, plural in finding.text) == ("unknown", True), finding.text


def test_what_is_known_to_be_missing_is_reported_next_to_what_is_unknown() -> None:
    given = [each for each in objects() if each["kind"] != ACCOUNT]
    finding = judged(SmallCluster(given, {"roles": "forbidden"}))
    assert finding.verdict == "fail"
    assert "there is no ServiceAccount cnf/dataplane" in finding.text
    assert "roles.rbac.authorization.k8s.io may not be read" in finding.text


def test_a_cluster_without_constraints_has_no_such_kind() -> None:
    finding = judged(SmallCluster(objects(), {"securitycontextconstraints": "absent"}))
    assert finding.verdict == "fail"
    kind = "securitycontextconstraints.security.openshift.io"
    assert f"the cluster has no kind {kind}" in finding.text
