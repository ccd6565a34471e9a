"""The nodes that an intent is for, and the pods whose CPUs are to be their own."""

from __future__ import annotations

from plimsoll.tune.cluster.kinds import NODE, POD
from plimsoll.tune.cluster.object_judgement import ClusterView
from plimsoll.tune.expected.node import is_declared
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.kubernetes.kube_object import (
    KubeObject,
    annotations_of,
    full_name,
    labels_of,
    name_of,
    text_at,
)

# CRI-O acts on them for pods of a runtime class whose handler allows them, and on no others.
EFFECTS = ("cpu-load-balancing.crio.io", "cpu-quota.crio.io", "irq-load-balancing.crio.io")
_OVER = ("Succeeded", "Failed")


def declared_pods(view: ClusterView, intent: Intent, pod: Pod) -> tuple[KubeObject, ...]:
    """The running ones of one of the intent's pods. Raises CannotRead."""
    found = view.need(POD, intent.namespace_of(pod))
    return tuple(each for each in found if is_declared(each, intent, pod) and not _is_over(each))


def refused_pods(view: ClusterView, intent: Intent, pod: Pod) -> tuple[KubeObject, ...]:
    """Those of one of the intent's pods that a kubelet refused or evicted. Raises CannotRead.

    It says why in the pod's own reason (TopologyAffinityError, SMTAlignmentError, …), which a
    pod whose program ended does not have.
    """
    found = view.need(POD, intent.namespace_of(pod))
    return tuple(
        each
        for each in found
        if is_declared(each, intent, pod)
        and text_at(each, "status", "phase") == "Failed"
        and text_at(each, "status", "reason")
    )


def dataplane_pods(view: ClusterView, intent: Intent) -> tuple[KubeObject, ...]:
    """Those of the intent, of its runtime classes, and with an annotation of CRI-O for CPUs.

    Sorted by namespace and name. Raises CannotRead.
    """
    classes = runtime_classes(intent)
    found = [
        each
        for each in view.need(POD)
        if not _is_over(each)
        and (
            text_at(each, "spec", "runtimeClassName") in classes
            or any(name in annotations_of(each) for name in EFFECTS)
            or any(is_declared(each, intent, pod) for pod in intent.pods)
        )
    ]
    return tuple(sorted(found, key=full_name))


def runtime_classes(intent: Intent) -> frozenset[str]:
    """The names of the runtime classes that act on CPUs, as the intent has them."""
    of_pods = {intent.runtime_class_of(pod) for pod in intent.pods}
    of_profile = {f"performance-{intent.name}"} if intent.platform == "openshift" else set()
    return frozenset(name for name in of_pods | of_profile if name)


def is_declared_burstable(found: KubeObject, intent: Intent) -> bool:
    """Whether the intent itself has the pod share its CPUs."""
    return any(is_declared(found, intent, pod) and pod.qos == "burstable" for pod in intent.pods)


def _is_over(pod: KubeObject) -> bool:
    return text_at(pod, "status", "phase") in _OVER


def pool_nodes(view: ClusterView, pool: Pool) -> tuple[KubeObject, ...]:
    """Those with all labels of the pool, by name. Raises CannotRead."""
    expected = pool.node_labels.items()
    found = [each for each in view.need(NODE) if expected <= labels_of(each).items()]
    return tuple(sorted(found, key=name_of))


def need_pool_nodes(view: ClusterView, pool: Pool) -> tuple[KubeObject, ...]:
    """The same. Raises CannotRead where there are none, for nothing can be judged of them."""
    found = pool_nodes(view, pool)
    if not found:
        labels = ",".join(f"{key}={value}" for key, value in pool.node_labels.items())
        raise CannotRead(Unread(f"a node with {labels}", "absent"))
    return found


def kernel_of(node: KubeObject) -> str:
    """The release of the kernel that a node runs; empty where it does not say."""
    return text_at(node, "status", "nodeInfo", "kernelVersion")
