"""The networks that a pod's annotation names, as Multus reads them.

The two forms of the Network Plumbing Working Group's specification: names with commas between,
each perhaps after its namespace and before its interface (ns/name@net1), or a JSON list.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from plimsoll.tune.kubernetes.kube_object import KubeObject, annotations_of

_LONGEST_TEXT = 1 << 18
RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName"


@dataclass(frozen=True, slots=True, order=True)
class SelectedNetwork:
    """A NetworkAttachmentDefinition by namespace and name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def selected_networks(given: Any, namespace: str) -> tuple[SelectedNetwork, ...]:
    """All of them, sorted, one as often as it is named; `namespace` is the pod's.

    Raises ValueError for an annotation that is neither form.
    """
    if not isinstance(given, str) or len(given) > _LONGEST_TEXT:
        raise ValueError("is not a list of networks")
    text = given.strip()
    found = _from_json(text, namespace) if text.startswith("[") else _from_names(text, namespace)
    return tuple(sorted(found))


def _from_names(text: str, namespace: str) -> list[SelectedNetwork]:
    return [_named(part.strip(), namespace) for part in text.split(",") if part.strip()]


def _named(text: str, namespace: str) -> SelectedNetwork:
    place, slash, name = text.partition("@")[0].rpartition("/")
    if not name or (slash and not place):
        raise ValueError(f"names {text[:80]!r}, which is not a valid network")
    return SelectedNetwork(place or namespace, name)


def _from_json(text: str, namespace: str) -> list[SelectedNetwork]:
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    return [_entry(each, namespace) for each in entries]


def _entry(entry: Any, namespace: str) -> SelectedNetwork:
    fields = entry if isinstance(entry, dict) else {}
    name, place = fields.get("name"), fields.get("namespace", namespace)
    if not isinstance(name, str) or not isinstance(place, str):
        raise ValueError("names a network without a name")
    return SelectedNetwork(place, name)


# Of which resource a NetworkAttachmentDefinition takes a device.
def resource_of(attachment: KubeObject) -> str:
    """The resource, as pods request it; empty for an attachment without devices."""
    return annotations_of(attachment).get(RESOURCE_NAME, "")
