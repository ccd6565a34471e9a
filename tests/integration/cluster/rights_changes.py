"""Changes of what lets the pods of openshift-deterministic in, each of which check 118 tells alone.

Pod security and RBAC are the server's own; no admission by OpenShift's constraints is behind
their objects.
"""

from __future__ import annotations

from tests.integration.cluster.change import Change

RIGHTS_CHANGES = [
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
        {118: ("warn", "groups has system:authenticated, which is not in the intent")},
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

# Kind and name of what is missing, and what is then reported.
RIGHTS_MISSING = [
    ("ServiceAccount", "dataplane", {118: ("fail", "there is no ServiceAccount")}),
    (
        "SecurityContextConstraints",
        "reghwol-dataplane",
        {118: ("fail", "there is no SecurityContextConstraints")},
    ),
    ("Role", "use-dataplane-constraint", {118: ("fail", "there is no Role ")}),
    ("RoleBinding", "use-dataplane-constraint", {118: ("fail", "there is no RoleBinding")}),
]
