"""The pods: testpmd, a generator, any workload; with the least privilege that will do.

The first article's pod has SYS_ADMIN in addition to IPC_LOCK. DPDK through VFIO needs neither
mounts nor raw memory: it locks memory for DMA (IPC_LOCK), and the device plugin hands it the VF.
Such pods run as root, as OpenShift's own examples of DPDK do ("Using DPDK and RDMA"): the kernel
takes added capabilities from everybody else, and the VF's file in /dev/vfio is root's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.host.kubernetes.own_objects import NETWORKS
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.hugepages import RESOURCE_SUFFIX
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.network import SriovAttachment
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.render.files.rendered_file import (
    Manifest,
    RenderedFile,
    manifest_of,
    manifest_text,
)

# Of all pods that are given capabilities, in each namespace.
SERVICE_ACCOUNT = "dataplane"
# Each of them is as good as root on the node.
_FAR_REACHING = frozenset(("SYS_ADMIN", "SYS_RAWIO", "SYS_MODULE", "SYS_PTRACE"))
# A registry that can never be (RFC 2606), so that a forgotten image fails by its own name.
_NO_IMAGE = "registry.invalid/set-the-image-of/{name}"
# The program is started inside, by hand or by Plimsoll, on the CPUs that the pod got.
_WAIT = ("sleep", "infinity")


def render_pods(intent: Intent, _: Pool) -> Iterator[RenderedFile]:
    """One file each."""
    for place, pod in enumerate(intent.pods):
        yield RenderedFile(
            f"3-workload/70-pod-{pod.name}.yaml",
            manifest_text(pod_manifest(intent, pod)),
            does=_does(intent, pod),
            undo=f"`oc delete pod {pod.name} -n {intent.namespace_of(pod)}`",
            notes=tuple(_notes(intent, pod, place)),
        )


def _notes(intent: Intent, pod: Pod, place: int) -> Iterator[str]:
    if not pod.image:
        yield f"The intent names no image: set pods[{place}].image, or the one below."
    added = capabilities_of(intent, pod)
    if more := [each for each in added if each in _FAR_REACHING]:
        yield f"{', '.join(more)}: more than DPDK through VFIO takes, which is IPC_LOCK."
    elif "IPC_LOCK" in added:
        yield "IPC_LOCK is what DPDK through VFIO takes; SYS_ADMIN, which examples add, is not."


def _does(intent: Intent, pod: Pod) -> str:
    kept = ", ".join(capabilities_of(intent, pod)) or "none"
    far = "" if _FAR_REACHING.isdisjoint(capabilities_of(intent, pod)) else ", **too many**"
    words = [
        f"A {pod.qos} pod ({pod.role}) of {pod.cpus:g} CPUs; its capabilities: {kept}{far}.",
        "" if pod.image else f"**Set its image**: now `{_NO_IMAGE.format(name=pod.name)}`.",
        "" if pod.command else "It waits; start the program inside, on the CPUs of its cpuset.",
    ]
    return " ".join(word for word in words if word)


def pod_manifest(intent: Intent, pod: Pod) -> Manifest:
    """The object: one container, its QoS class by its resources."""
    runtime_class = intent.runtime_class_of(pod)
    spec: dict[str, Any] = {
        "automountServiceAccountToken": False,
        "containers": [_container(intent, pod)],
        **({"nodeSelector": dict(pod.node_selector)} if pod.node_selector else {}),
        "restartPolicy": "Never",
        **({"runtimeClassName": runtime_class} if runtime_class else {}),
        **({"serviceAccountName": SERVICE_ACCOUNT} if capabilities_of(intent, pod) else {}),
    }
    if pod.hugepages:
        medium = f"HugePages-{RESOURCE_SUFFIX[pod.hugepages.size]}"
        spec["volumes"] = [{"name": "hugepages", "emptyDir": {"medium": medium}}]
    return manifest_of(
        "v1",
        "Pod",
        pod.name,
        namespace=intent.namespace_of(pod),
        labels={"app": pod.name},
        annotations=_annotations(intent, pod),
        spec=spec,
    )


def _annotations(intent: Intent, pod: Pod) -> dict[str, str]:
    """CRI-O's effects, the networks, then the intent's own, which win."""
    networks = {NETWORKS: ",".join(_attachments(intent, pod))} if pod.networks else {}
    return pod.effects.annotations | networks | dict(pod.annotations)


def _attachments(intent: Intent, pod: Pod) -> Iterator[str]:
    for name in pod.networks:
        namespace = intent.namespace_of_network(intent.network(name))
        yield name if namespace == intent.namespace_of(pod) else f"{namespace}/{name}"


def _container(intent: Intent, pod: Pod) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": pod.name,
        "image": pod.image or _NO_IMAGE.format(name=pod.name),
        "command": list(pod.command or _WAIT),
        "resources": _resources(intent, pod),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": _capability_sets(intent, pod),
            **({"runAsUser": 0} if capabilities_of(intent, pod) else {}),
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    if pod.hugepages:
        container["volumeMounts"] = [{"name": "hugepages", "mountPath": "/dev/hugepages"}]
    return container


def _resources(intent: Intent, pod: Pod) -> dict[str, dict[str, str]]:
    """Limits equal requests for a guaranteed pod; hugepages and devices have no other way."""
    requests = intent.resources_of(pod)
    if pod.qos == "guaranteed":
        return {"limits": dict(requests), "requests": requests}
    fixed = {name: value for name, value in requests.items() if name not in ("cpu", "memory")}
    return {**({"limits": fixed} if fixed else {}), "requests": requests}


def _capability_sets(intent: Intent, pod: Pod) -> dict[str, list[str]]:
    added = list(capabilities_of(intent, pod))
    return {**({"add": added} if added else {}), "drop": ["ALL"]}


def capabilities_of(intent: Intent, pod: Pod) -> tuple[str, ...]:
    """The intent's; not given, what DPDK on the pod's cards takes.

    VFIO and RDMA pin memory for the card's DMA (IPC_LOCK), and mlx5 opens raw sockets (NET_RAW).
    A VF that the kernel drives is an interface in the pod as any other, and takes neither.
    """
    if "capabilities" in pod.model_fields_set:
        return pod.capabilities
    networks = [intent.network(name) for name in pod.networks]
    nics = [intent.nic(each.nic) for each in networks if isinstance(each, SriovAttachment)]
    pins_memory = any(nic.rdma or nic.driver == "vfio-pci" for nic in nics)
    raw = ("NET_RAW",) if any(nic.rdma for nic in nics) else ()
    return ("IPC_LOCK", *raw) if pins_memory else ()
