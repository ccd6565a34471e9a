"""Pods as the API server or a kubelet's own files have them.

Static pods: those that a kubelet starts from files of its own node. The API server shows them, and
cannot change them. A manifest may contain anything, and often contains passwords.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from plimsoll.tune.kubernetes.kube_object import (
    KubeObject,
    items_at,
    mapping_at,
    parse_objects,
    parse_quantity,
    text_at,
    value_at,
)

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


# OpenShift's and kubeadm's staticPodPath.
MANIFESTS = "/etc/kubernetes/manifests"
# The API server shows a static pod as an object like others, of which etcd takes 1.5 MiB.
_MAX_CHARACTERS = 3 << 19
# Of what a probe may do (Kubernetes, Probe v1 core).
_HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
_RESOURCES = ("cpu", "memory")
_CONTAINERS = ("containers", "initContainers")


def parse_static_pod(text: str) -> KubeObject:
    """The pod of a manifest. Raises ValueError with the reason where it is none."""
    if len(text) > _MAX_CHARACTERS:
        raise ValueError("is larger than a pod can be")
    objects = parse_objects(text.encode(errors="replace"))
    if len(objects) != 1 or objects[0].get("kind") != "Pod":
        raise ValueError("is not a pod's manifest")
    return objects[0]


def without_secrets(text: str) -> str:
    """The manifest with what says whose CPUs are whose and what probes do, and with no more.

    Environments, commands, annotations and volumes are left out, as is all that is not known.
    Raises ValueError where it is not a pod's manifest.
    """
    pod = parse_static_pod(text)
    kept: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _texts(value_at(pod, "metadata"), "name", "namespace"),
        "spec": {
            part: [_container(each) for each in items_at(pod, "spec", part)] for part in _CONTAINERS
        },
    }
    if app := text_at(pod, "metadata", "labels", "app"):
        kept["metadata"]["labels"] = {"app": app}
    return json.dumps(kept, indent=1)


def has_cpus_of_its_own(pod: KubeObject, container: KubeObject) -> bool:
    """Whether a static CPU manager gives them: a guaranteed pod, and a whole number of CPUs.

    Kubernetes, Control CPU Management Policies on the Node; Pod Quality of Service Classes.
    """
    everyone = [each for part in _CONTAINERS for each in items_at(pod, "spec", part)]
    cpus = _amount(container, "limits", "cpu")
    whole = cpus is not None and cpus > 0 and cpus.denominator == 1
    return whole and all(_is_guaranteed(each) for each in everyone)


def _is_guaranteed(container: KubeObject) -> bool:
    """A request that is not given is the limit."""
    for name in _RESOURCES:
        limit, request = (_amount(container, kind, name) for kind in ("limits", "requests"))
        requested = name in mapping_at(container, "resources", "requests")
        if not limit or (requested and request != limit):
            return False
    return True


def _amount(container: KubeObject, kind: str, name: str) -> Fraction | None:
    try:
        return parse_quantity(value_at(container, "resources", kind, name))
    except ValueError:
        return None


def _container(container: KubeObject) -> dict[str, Any]:
    resources = {kind: dict(_amounts(container, kind)) for kind in ("requests", "limits")}
    probes: dict[str, Any] = {
        probe: {handler: {} for handler in _HANDLERS if handler in found}
        for probe in PROBES
        if (found := mapping_at(container, probe))
    }
    return {**_texts(container, "name", "restartPolicy"), "resources": resources, **probes}


def _amounts(container: KubeObject, kind: str) -> Iterator[tuple[str, str]]:
    """As written; what is not an amount is given as an unknown one."""
    for name in _RESOURCES:
        given = value_at(container, "resources", kind, name)
        if given is not None:
            known = _amount(container, kind, name) is not None
            yield name, str(given) if known else "unknown"


def _texts(holder: Any, *names: str) -> dict[str, str]:
    return {name: found for name in names if (found := text_at(holder, name))}
