"""The namespaces of pods and of the networks that they join, with the pod security they need.

Labels as in OpenShift's documentation ("Using DPDK and RDMA", its namespace for DPDK pods);
levels by Kubernetes' Pod Security Standards, whose baseline does not know IPC_LOCK. None is
labelled or annotated for workload partitioning: that is for the platform's own pods.

Who may run the pods: a service account, and the one security context constraint it may use. The
least that lets them in: root with the capabilities that the pods add and no others, no host's
files, networks or processes, and of volumes the hugepages' and the one through which the SR-IOV
operator's injector shows a pod its networks (OpenShift's documentation, "About Network Resources
Injector", and "Role-based access to security context constraints").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.render.files.rendered_file import (
    Manifest,
    RenderedFile,
    manifest_of,
    manifest_text,
)
from plimsoll.tune.render.openshift.pod import SERVICE_ACCOUNT, capabilities_of

# The cluster has it before anybody makes one, and Multus looks into it from every other.
DEFAULT = "default"
# Pod Security Standards, Baseline, "Capabilities": what may be added.
_BASELINE = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
_MODES = ("audit", "enforce", "warn")


def is_the_clusters(namespace: str) -> bool:
    """Whether it is there for the cluster itself, and not for workloads."""
    return namespace in (DEFAULT, "openshift") or namespace.startswith(("kube-", "openshift-"))


def pods_by_namespace(intent: Intent) -> dict[str, list[Pod]]:
    """The pods of each namespace, those of networks alone among them; in the intent's order."""
    found: dict[str, list[Pod]] = {}
    for pod in intent.pods:
        found.setdefault(intent.namespace_of(pod), []).append(pod)
    for network in intent.networks:
        found.setdefault(intent.namespace_of_network(network), [])
    return found


def render_namespaces(intent: Intent, _: Pool) -> Iterator[RenderedFile]:
    """One for each that the cluster does not have by itself."""
    for name, pods in pods_by_namespace(intent).items():
        if is_the_clusters(name):
            continue
        level = pod_security_level(intent, pods)
        yield RenderedFile(
            f"2-network/45-namespace-{name}.yaml",
            manifest_text(namespace(name, level)),
            does=f"The namespace {name}, where the cluster lets in pods that are {level} by "
            "Kubernetes' Pod Security Standards."
            + (" What each may have, its security context constraint says." if pods else ""),
            undo=f"`oc delete namespace {name}`, unless something else is in it: it goes too.",
        )


def pod_security_level(intent: Intent, pods: list[Pod]) -> str:
    """What admits all of `pods`: privileged where one adds more than the baseline's."""
    added = {name for pod in pods for name in capabilities_of(intent, pod)}
    return "baseline" if added <= _BASELINE else "privileged"


def namespace(name: str, level: str) -> Manifest:
    """The object; OpenShift would otherwise keep the labels itself, and warn at each pod."""
    labels = {f"pod-security.kubernetes.io/{mode}": level for mode in _MODES}
    labels["security.openshift.io/scc.podSecurityLabelSync"] = "false"
    return manifest_of("v1", "Namespace", name, labels=labels)


_RBAC_GROUP = "rbac.authorization.k8s.io"
_RBAC = f"{_RBAC_GROUP}/v1"
_SECURITY_GROUP = "security.openshift.io"
# Of the role and of its binding, in each namespace.
ROLE = "use-dataplane-constraint"


def render_security_constraints(intent: Intent, _: Pool) -> Iterator[RenderedFile]:
    """Four for each namespace with pods that add capabilities; others fit restricted-v2."""
    for namespace, capabilities in capabilities_by_namespace(intent).items():
        yield from _files(namespace, capabilities)


def capabilities_by_namespace(intent: Intent) -> dict[str, list[str]]:
    """Those that the pods of each namespace add; of namespaces where they add some."""
    found = {
        namespace: sorted({name for pod in pods for name in capabilities_of(intent, pod)})
        for namespace, pods in pods_by_namespace(intent).items()
    }
    return {namespace: added for namespace, added in found.items() if added}


def _files(namespace: str, capabilities: list[str]) -> Iterator[RenderedFile]:
    constraint = constraint_name(namespace)
    yield RenderedFile(
        f"3-workload/60-service-account-{namespace}.yaml",
        manifest_text(service_account(namespace)),
        does=f"The account that pods with capabilities run under in {namespace}.",
        undo=f"`oc delete serviceaccount {SERVICE_ACCOUNT} -n {namespace}`",
    )
    yield RenderedFile(
        f"3-workload/61-security-context-constraint-{namespace}.yaml",
        manifest_text(security_context_constraint(namespace, capabilities)),
        does=f"What pods under that account may be: root with {', '.join(capabilities)} and no "
        "other capability, without anything of the host's.",
        undo=f"`oc delete scc {constraint}`",
    )
    yield RenderedFile(
        f"3-workload/62-role-{namespace}.yaml",
        manifest_text(role(namespace)),
        does=f"The right to use {constraint}, and nothing else.",
        undo=f"`oc delete role {ROLE} -n {namespace}`",
    )
    yield RenderedFile(
        f"3-workload/63-role-binding-{namespace}.yaml",
        manifest_text(role_binding(namespace)),
        does="Gives that right to that account.",
        undo=f"`oc delete rolebinding {ROLE} -n {namespace}`",
    )


def constraint_name(namespace: str) -> str:
    """Of the whole cluster, so the namespace is in it."""
    return f"{namespace}-{SERVICE_ACCOUNT}"


def service_account(namespace: str) -> Manifest:
    """The object; the pods get no token of it."""
    return manifest_of("v1", "ServiceAccount", SERVICE_ACCOUNT, namespace=namespace) | {
        "automountServiceAccountToken": False
    }


def security_context_constraint(namespace: str, capabilities: list[str]) -> Manifest:
    """The object: as restricted-v2, but for root, `capabilities` and the fewer volumes.

    Fields as in security/v1 of openshift/api; who may use it is the role's to say.
    """
    fields: dict[str, Any] = {
        "allowHostDirVolumePlugin": False,
        "allowHostIPC": False,
        "allowHostNetwork": False,
        "allowHostPID": False,
        "allowHostPorts": False,
        "allowPrivilegeEscalation": False,
        "allowPrivilegedContainer": False,
        "allowedCapabilities": capabilities,
        "defaultAddCapabilities": [],
        "fsGroup": {"type": "MustRunAs"},
        "groups": [],
        "priority": 0,
        "readOnlyRootFilesystem": False,
        "requiredDropCapabilities": ["ALL"],
        "runAsUser": {"type": "MustRunAs", "uid": 0},
        "seLinuxContext": {"type": "MustRunAs"},
        "seccompProfiles": ["runtime/default"],
        "supplementalGroups": {"type": "RunAsAny"},
        "users": [],
        "volumes": ["downwardAPI", "emptyDir"],
    }
    return manifest_of(
        f"{_SECURITY_GROUP}/v1", "SecurityContextConstraints", constraint_name(namespace), **fields
    )


def role(namespace: str) -> Manifest:
    """The object."""
    rule = {
        "apiGroups": [_SECURITY_GROUP],
        "resourceNames": [constraint_name(namespace)],
        "resources": ["securitycontextconstraints"],
        "verbs": ["use"],
    }
    return manifest_of(_RBAC, "Role", ROLE, namespace=namespace, rules=[rule])


def role_binding(namespace: str) -> Manifest:
    """The object."""
    account = {"kind": "ServiceAccount", "name": SERVICE_ACCOUNT, "namespace": namespace}
    return manifest_of(
        _RBAC,
        "RoleBinding",
        ROLE,
        namespace=namespace,
        roleRef={"apiGroup": _RBAC_GROUP, "kind": "Role", "name": ROLE},
        subjects=[account],
    )
