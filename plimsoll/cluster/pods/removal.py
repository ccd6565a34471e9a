"""Removing what runs made in a cluster: found by its label, also after its maker was killed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.cluster.pods.cluster_client import KINDS, ClusterClient
from plimsoll.cluster.pods.manifests import RUN_ANNOTATION, RUN_LABEL
from plimsoll.host.kubernetes.cluster_errors import ClusterRefused
from plimsoll.host.kubernetes.own_objects import MANAGED

_OURS = ",".join(f"{name}={value}" for name, value in MANAGED.items())
_FORBIDDEN = 403
# The owners last: after a kill in between, what is left is found by them.
_ORDER = sorted(KINDS, key=lambda kind: kind == "ConfigMap")


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run that has objects in a namespace: the name of all of them, its id, and what there is.

    `objects` are of the form "Pod plimsoll-1f…", a pod's with its phase.
    """

    name: str
    run_id: str
    objects: tuple[str, ...]


def found_runs(client: ClusterClient) -> tuple[FoundRun, ...]:
    """What runs left or have there, by name. Raises ClusterRefused and ClusterUnreachable."""
    by_name: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for kind in _ORDER:
        for each in _labelled(client, kind, _OURS):
            name = each["metadata"].get("labels", {}).get(RUN_LABEL, each["metadata"]["name"])
            by_name.setdefault(name, []).append((kind, each))
    return tuple(_found(name, by_name[name]) for name in sorted(by_name))


def remove_labelled(client: ClusterClient, selector: str) -> Iterator[str]:
    """Delete all that the selector selects among what runs made; says of each what it was."""
    for kind in _ORDER:
        for each in _labelled(client, kind, f"{_OURS},{selector}" if selector else _OURS):
            name = each["metadata"]["name"]
            client.delete(kind, name)
            yield f"{kind} {name}"


def _labelled(client: ClusterClient, kind: str, selector: str) -> tuple[Mapping[str, Any], ...]:
    """All of a kind. Who may not list jobs has made none: only a matrix takes that right."""
    try:
        return client.labelled(kind, selector)
    except ClusterRefused as error:
        if kind == "Job" and error.status == _FORBIDDEN:
            return ()
        raise


def _found(name: str, objects: list[tuple[str, Mapping[str, Any]]]) -> FoundRun:
    ids = (each["metadata"].get("annotations", {}).get(RUN_ANNOTATION) for _, each in objects)
    return FoundRun(
        name,
        next((each for each in ids if each), ""),
        tuple(_described(kind, each) for kind, each in objects),
    )


def _described(kind: str, found: Mapping[str, Any]) -> str:
    phase = (found.get("status") or {}).get("phase")
    return f"{kind} {found['metadata']['name']}" + (f" ({phase})" if phase else "")
