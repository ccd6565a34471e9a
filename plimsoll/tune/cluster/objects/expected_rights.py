"""The namespaces and the rights of the intent's pods, as rendered, and what counts of each.

More than is rendered does not keep a pod out, so it is distinguished from less. What a field of a
constraint allows is in security/v1 of openshift/api; a rule of a role in rbac/v1 of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.cluster.kinds import (
    NAMESPACE,
    ROLE,
    ROLE_BINDING,
    SECURITY_CONSTRAINT,
    SERVICE_ACCOUNT_OF_PODS,
)
from plimsoll.tune.cluster.objects.expected_object import (
    ExpectedObject,
    Meanings,
    reduced,
    with_intents_extra,
)
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.openshift.namespace import (
    capabilities_by_namespace,
    is_the_clusters,
    namespace,
    pod_security_level,
    pods_by_namespace,
    role,
    role_binding,
    security_context_constraint,
    service_account,
)

_NO_YES = (False, True)
# Pod Security Standards, from the strictest. "audit" and "warn" keep no pod out.
_ENFORCE = "pod-security.kubernetes.io/enforce"
_NAMESPACE_MEANINGS = Meanings(
    rising={f"metadata.labels.{_ENFORCE}": ("restricted", "baseline", "privileged")}
)
_TOKEN = "automountServiceAccountToken"  # noqa: S105
_ACCOUNT_MEANINGS = Meanings(defaults={_TOKEN: True}, rising={_TOKEN: _NO_YES})
_ALLOWED = (
    "allowHostDirVolumePlugin",
    "allowHostIPC",
    "allowHostNetwork",
    "allowHostPID",
    "allowHostPorts",
    "allowPrivilegeEscalation",
    "allowPrivilegedContainer",
)
_STRATEGIES = ("fsGroup", "runAsUser", "seLinuxContext", "supplementalGroups")
_CONSTRAINT_MEANINGS = Meanings(
    # Where RunAsAny names no user, any will do: root as well.
    defaults={"allowPrivilegeEscalation": True, "runAsUser.uid": 0},
    rising={
        **dict.fromkeys(_ALLOWED, _NO_YES),
        **{f"{each}.type": ("MustRunAs", "RunAsAny") for each in _STRATEGIES},
        "readOnlyRootFilesystem": (True, False),
    },
    wildcards=frozenset({"allowedCapabilities", "seccompProfiles", "volumes"}),
    withheld=frozenset({"requiredDropCapabilities"}),
)
_RULE_LISTS = ("apiGroups", "resourceNames", "resources", "verbs")
_ROLE_MEANINGS = Meanings(
    # A rule without names is of all.
    defaults={"rules.*.resourceNames": ["*"]},
    whole=frozenset({"rules"}),
    wildcards=frozenset(f"rules.*.{each}" for each in _RULE_LISTS),
)
_BINDING_MEANINGS = Meanings(whole=frozenset({"subjects"}))


def expected_namespaces(intent: Intent) -> Iterator[ExpectedObject]:
    """The Namespaces, each with the level that lets its pods in."""
    for name, pods in pods_by_namespace(intent).items():
        if not is_the_clusters(name):
            level = pod_security_level(intent, pods)
            manifest = reduced(namespace(name, level), labels={_ENFORCE: level})
            expected = ExpectedObject(NAMESPACE, manifest, _NAMESPACE_MEANINGS)
            yield with_intents_extra(intent, expected)


def expected_rights(intent: Intent) -> Iterator[ExpectedObject]:
    """What lets pods have their capabilities, for each namespace where some add any."""
    for expected in _rights(intent):
        yield with_intents_extra(intent, expected)


def _rights(intent: Intent) -> Iterator[ExpectedObject]:
    for name, capabilities in capabilities_by_namespace(intent).items():
        yield ExpectedObject(SERVICE_ACCOUNT_OF_PODS, service_account(name), _ACCOUNT_MEANINGS)
        yield _constraint(name, capabilities)
        yield ExpectedObject(ROLE, role(name), _ROLE_MEANINGS)
        yield ExpectedObject(ROLE_BINDING, role_binding(name), _BINDING_MEANINGS)


def _constraint(name: str, capabilities: list[str]) -> ExpectedObject:
    """Without its priority, which only says what is tried first of several that fit."""
    manifest = security_context_constraint(name, capabilities)
    del manifest["priority"]
    return ExpectedObject(SECURITY_CONSTRAINT, manifest, _CONSTRAINT_MEANINGS)
