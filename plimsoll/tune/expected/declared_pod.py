"""Which pods of a cluster or of a node are those that an intent declares."""

from __future__ import annotations

from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.kubernetes.kube_object import KubeObject, labels_of, name_of, namespace_of


def is_declared(found: KubeObject, intent: Intent, pod: Pod) -> bool:
    """Whether it is the intent's pod, or one of a controller that gave it the pod's label."""
    if namespace_of(found) != intent.namespace_of(pod):
        return False
    return name_of(found) == pod.name or labels_of(found).get("app") == pod.name
