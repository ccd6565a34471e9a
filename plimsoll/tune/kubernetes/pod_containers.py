"""The containers of a pod that run as long as it does."""

from __future__ import annotations

from plimsoll.tune.kubernetes.kube_object import KubeObject, items_at


def containers_of(pod: KubeObject) -> tuple[KubeObject, ...]:
    """Its containers that run all the time: not those that only prepare."""
    sidecars = (
        each for each in items_at(pod, "spec", "initContainers")
        if each.get("restartPolicy") == "Always"
    )  # fmt: skip
    return (*items_at(pod, "spec", "containers"), *sidecars)
