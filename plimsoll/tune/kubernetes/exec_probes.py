"""Probes for which the kubelet starts a program inside a container."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.tune.kubernetes.kube_object import KubeObject, text_at, value_at

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def exec_probes(containers: Iterable[KubeObject]) -> Iterator[str]:
    """Each by its container and kind: "testpmd.livenessProbe"."""
    for container in containers:
        for probe in PROBES:
            if value_at(container, probe, "exec") is not None:
                yield f"{text_at(container, 'name')}.{probe}"
