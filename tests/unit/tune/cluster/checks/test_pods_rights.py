"""Check 118: a cluster that refuses the pods fails, one that allows them more is warned of.

What each field of a constraint allows is in security/v1 of openshift/api, levels in
Kubernetes' Pod Security Standards, wildcards and rules without names in its RBAC reference.
"""

import copy
from typing import Any

import pytest

from plimsoll.tune.audit.finding import CheckFinding
from plimsoll.tune.cluster.checks.pods_rights import CHECK
from plimsoll.tune.cluster.object_judgement import ClusterView
from plimsoll.tune.host.view.unread import UnreadCause
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.cluster.clusters import SmallCluster, cluster, intent, objects
from tests.worded.says import Says

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
def test_one_that_is_not_there_fails(kind: str, title: str, says: Says) -> None:
    finding = judged(cluster(without=[kind]))
    assert finding.verdict == "fail"
    assert finding.text == says(str(title))
    (step,) = finding.steps
    assert step.text == says(str(title), "plimsoll tune render")


@pytest.mark.parametrize(
    ("kind", "path", "value", "facts"),
    [
        (NAMESPACE, ENFORCE, "baseline", ("baseline",)),
        (NAMESPACE, ENFORCE, "Privileged", ("Privileged",)),
        (
            NAMESPACE,
            "metadata/labels",
            {},
            ('metadata.labels["pod-security.kubernetes.io/enforce"]',),
        ),
        (SCC, "allowedCapabilities", ["NET_RAW"], ("allowedCapabilities", "IPC_LOCK")),
        (SCC, "allowedCapabilities", None, ("allowedCapabilities", "IPC_LOCK")),
        (SCC, "requiredDropCapabilities", ["ALL", "KILL"], ("requiredDropCapabilities", "KILL")),
        (SCC, "runAsUser", {"type": "MustRunAsNonRoot"}, ("runAsUser.type", "MustRunAsNonRoot")),
        (SCC, "runAsUser/uid", 1000, ("runAsUser.uid", "1000", "0")),
        (SCC, "volumes", ["emptyDir"], ("volumes", "downwardAPI")),
        (SCC, "seccompProfiles", None, ("seccompProfiles", "runtime/default")),
        (SCC, "readOnlyRootFilesystem", True, ("readOnlyRootFilesystem",)),
        (ROLE, "rules/0/verbs", ["get"], ("rules", '{"apiGroups', '["security.openshift.io"]')),
        (ROLE, "rules/0/resourceNames", ["restricted-v2"], ("rules",)),
        (ROLE, "rules", None, ("rules",)),
        (BINDING, "roleRef/name", "view", ("roleRef.name", "view")),
        (BINDING, "subjects/0/name", "default", ("subjects", '{"kind', "ServiceAccount")),
        (BINDING, "subjects/0/namespace", "other", ("subjects",)),
    ],
)
def test_less_than_the_pods_need_fails(
    kind: str, path: str, value: Any, facts: tuple[str, ...], says: Says
) -> None:
    finding = judged(changed(kind, path, value))
    assert finding.verdict == "fail"
    assert finding.text == says(*facts)


@pytest.mark.parametrize(
    ("kind", "path", "value", "facts"),
    [
        (ACCOUNT, "automountServiceAccountToken", None, ("automountServiceAccountToken",)),
        (SCC, "allowPrivilegedContainer", True, ("allowPrivilegedContainer",)),
        (SCC, "allowHostNetwork", True, ("allowHostNetwork",)),
        (SCC, "allowPrivilegeEscalation", None, ("allowPrivilegeEscalation",)),
        (SCC, "allowedCapabilities", ["IPC_LOCK", "SYS_ADMIN"], ("SYS_ADMIN",)),
        (SCC, "allowedCapabilities", ["*"], ("SecurityContextConstraints", "allowedCapabilities")),
        (SCC, "defaultAddCapabilities", ["NET_ADMIN"], ("defaultAddCapabilities", "NET_ADMIN")),
        (SCC, "requiredDropCapabilities", None, ("requiredDropCapabilities",)),
        (SCC, "runAsUser", {"type": "RunAsAny"}, ("runAsUser.type", "RunAsAny", "MustRunAs")),
        (SCC, "seccompProfiles", ["*"], ("seccompProfiles",)),
        (SCC, "volumes", ["downwardAPI", "emptyDir", "hostPath"], ("volumes", "hostPath")),
        (SCC, "groups", ["system:authenticated"], ("groups", "system:authenticated")),
        (SCC, "users", ["alice"], ("users", "alice")),
        (ROLE, "rules/0/verbs", ["use", "delete"], ("rules[0].verbs", "delete")),
        (ROLE, "rules/0/verbs", ["*"], ("rules[0].verbs",)),
        (ROLE, "rules/0/resourceNames", None, ("rules[0].resourceNames",)),
        (BINDING, "subjects", [
            {"kind": "Group", "name": "system:serviceaccounts"},
            {"kind": "ServiceAccount", "name": "dataplane", "namespace": "cnf"},
        ], ("subjects", '{"kind', "Group", 'system:serviceaccounts"}')),
    ],
)  # fmt: skip
def test_more_than_the_pods_need_is_warned_of(
    kind: str, path: str, value: Any, facts: tuple[str, ...], says: Says
) -> None:
    finding = judged(changed(kind, path, value))
    assert finding.verdict == "warn"
    assert finding.text == says(*facts)


def test_another_rule_is_warned_of(says: Says) -> None:
    (role,) = [each for each in objects() if each["kind"] == ROLE]
    secrets = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
    finding = judged(changed(ROLE, "rules", [secrets, *role["rules"]]))
    assert finding.verdict == "warn"
    assert finding.text == says("rules", '{"apiGroups', "resources", '["secrets"]')


def test_what_is_missing_outweighs_what_is_too_much(says: Says) -> None:
    view = changed(SCC, "allowPrivilegedContainer", True)
    (constraint,) = [each for each in view.given if each["kind"] == SCC]
    constraint["allowedCapabilities"] = []
    finding = judged(view)
    assert finding.verdict == "fail"
    assert finding.text == says("allowPrivilegedContainer")
    assert "allowedCapabilities lacks IPC_LOCK" in finding.text


def test_a_laxer_namespace_than_the_pods_take_is_warned_of(says: Says) -> None:
    """NET_BIND_SERVICE is in the baseline, so the level that lets the pod in is lower."""
    pods = copy.deepcopy(intent().model_dump(include={"pods"}, exclude_unset=True)["pods"])
    pods[0]["capabilities"] = ["NET_BIND_SERVICE"]
    view = changed(SCC, "allowedCapabilities", ["NET_BIND_SERVICE"])
    finding = judged(view, intent(pods=pods))
    assert finding.verdict == "warn"
    assert finding.text == says('metadata.labels["pod-security.kubernetes.io/enforce"]')


def test_what_says_nothing_of_rights_does_not_count() -> None:
    """Which constraint is tried first, what is only reported, and what others note down."""
    assert judged(changed(SCC, "priority", 10)).verdict == "ok"
    assert judged(changed(ACCOUNT, "secrets", [{"name": "x"}])).verdict == "ok"
    labels = {
        "pod-security.kubernetes.io/enforce": "privileged",
        "pod-security.kubernetes.io/warn": "restricted",
    }
    assert judged(changed(NAMESPACE, "metadata/labels", labels)).verdict == "ok"


def test_pods_without_capabilities_take_a_namespace_and_no_rights(says: Says) -> None:
    pods = [{"name": "web", "namespace": "front", "cpus": 2, "memory": "1Gi"}]
    alone = intent(pods=pods, networks=None)
    (namespace,) = [each for each in objects() if each["kind"] == NAMESPACE]
    namespace["metadata"] = {
        "name": "front",
        "labels": {"pod-security.kubernetes.io/enforce": "baseline"},
    }
    finding = judged(SmallCluster([namespace]), alone)
    assert finding.verdict == "ok"
    assert finding.text == says()


@pytest.mark.parametrize("expected", [intent(**NO_PODS), load_preset("bare-metal")])
def test_it_does_not_apply_where_nothing_is_rendered(expected: Intent) -> None:
    assert judged(SmallCluster([]), expected).verdict == "not-applicable"


def test_the_namespace_that_every_cluster_has_is_not_requested_for(says: Says) -> None:
    pods = [{"name": "web", "namespace": "default", "cpus": 2, "memory": "1Gi"}]
    finding = judged(SmallCluster([]), intent(pods=pods, networks=None))
    assert finding.verdict == "not-applicable"
    assert finding.text == says("namespace")


@pytest.mark.parametrize("cause", ["forbidden", "not-captured", "unreadable"])
@pytest.mark.parametrize(
    "plural",
    ["namespaces", "serviceaccounts", "securitycontextconstraints", "roles", "rolebindings"],
)
def test_what_may_not_be_listed_is_unknown_and_named(plural: str, cause: UnreadCause) -> None:
    finding = judged(SmallCluster(objects(), {plural: cause}))
    assert (finding.verdict, plural in finding.text) == ("unknown", True), finding.text


def test_what_is_known_to_be_missing_is_reported_next_to_what_is_unknown(says: Says) -> None:
    given = [each for each in objects() if each["kind"] != ACCOUNT]
    finding = judged(SmallCluster(given, {"roles": "forbidden"}))
    assert finding.verdict == "fail"
    assert finding.text == says(
        "ServiceAccount", "cnf/dataplane", "roles.rbac.authorization.k8s.io"
    )


def test_a_cluster_without_constraints_has_no_such_kind(says: Says) -> None:
    finding = judged(SmallCluster(objects(), {"securitycontextconstraints": "absent"}))
    assert finding.verdict == "fail"
    kind = "securitycontextconstraints.security.openshift.io"
    assert finding.text == says(str(kind))
