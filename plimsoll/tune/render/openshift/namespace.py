"""The namespaces of pods and of the networks that they join, with the pod security they need.

Labels as in OpenShift's documentation ("Using DPDK and RDMA", its namespace for DPDK pods);
levels by Kubernetes' Pod Security Standards, whose baseline does not know IPC_LOCK. None is
labelled or annotated for workload partitioning: that is for the platform's own pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.render.files.manifest import Manifest, manifest_of, manifest_text
from plimsoll.tune.render.files.rendered_file import RenderedFile
from plimsoll.tune.render.openshift.pod import capabilities_of

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
