"""The containers of a pod that run as long as it does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.tune.kubernetes.kube_object import KubeObject, items_at, text_at, value_at

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def containers_of(pod: KubeObject) -> tuple[KubeObject, ...]:
    """Its containers that run all the time: not those that only prepare."""
    sidecars = (
        each for each in items_at(pod, "spec", "initContainers")
        if each.get("restartPolicy") == "Always"
    )  # fmt: skip
    return (*items_at(pod, "spec", "containers"), *sidecars)


# Probes for which the kubelet starts a program inside a container.
def exec_probes(containers: Iterable[KubeObject]) -> Iterator[str]:
    """Each by its container and kind: "testpmd.livenessProbe"."""
    for container in containers:
        for probe in PROBES:
            if value_at(container, probe, "exec") is not None:
                yield f"{text_at(container, 'name')}.{probe}"
