"""A live cluster, as its API server tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import ApiClient
from plimsoll.tune.cluster.cluster_view import ClusterView
from plimsoll.tune.cluster.kinds import Kind
from plimsoll.tune.host.view.unread import Unread, UnreadCause
from plimsoll.tune.kubernetes.kube_object import (
    KubeObject,
    items_at,
    name_of,
    namespace_of,
    text_at,
)

# What kubectl asks for at a time; the server keeps a list of more consistent for minutes.
_PAGE = 500
_MOST_OBJECTS = 200_000
_CAUSES: dict[int, UnreadCause] = {401: "forbidden", 403: "forbidden", 404: "absent"}
_GONE = 410
# How the groups end that are Kubernetes' own, of those that are read.
_BUILT_IN = ".k8s.io"


class ApiCluster(ClusterView):
    """Each kind is listed once, when it is first needed, and kept."""

    def __init__(self, client: ApiClient) -> None:
        self.where = client.server
        self._client = client
        self._lists: dict[Kind, tuple[KubeObject, ...] | Unread] = {}

    def listed(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...] | Unread:
        """All of the kind; an Unread where the server refuses, or does not answer."""
        if kind not in self._lists:
            self._lists[kind] = self._list(kind)
        found = self._lists[kind]
        if isinstance(found, Unread) or namespace is None:
            return found
        return tuple(each for each in found if namespace_of(each) == namespace)

    def _list(self, kind: Kind) -> tuple[KubeObject, ...] | Unread:
        try:
            return tuple(self._pages(kind))
        except _RefusedError as refused:
            cause = _CAUSES.get(refused.status, "unreadable")
            if cause == "absent" and not self._may_lack(kind):
                cause = "unreadable"
            # The server begins with what `where` says already.
            reason = refused.reason.removeprefix(f"{kind.resource} is forbidden: ")
            return Unread(kind.resource, cause, f"{refused.status} {reason}".strip())
        except MachineError as error:
            return Unread(kind.resource, "unreadable", error.message)

    def _may_lack(self, kind: Kind) -> bool:
        """Whether a 404 says that there is no such kind: not of one that every cluster has."""
        return bool(kind.group) and not kind.group.endswith(_BUILT_IN) and self._is_kubernetes

    @cached_property
    def _is_kubernetes(self) -> bool:
        """Whether the server says so, or does not tell just anybody."""
        try:
            answer = self._client.get("/version")
        except MachineError:
            return False
        return answer.status == 403 or bool(text_at(answer.document, "gitVersion"))

    def _pages(self, kind: Kind) -> Iterator[KubeObject]:
        query = [("limit", str(_PAGE))]
        if kind.only:
            query.append(("fieldSelector", f"metadata.name={kind.only}"))
        token, count = "", 0
        while True:
            answer = self._client.get(
                kind.path, [*query, *([("continue", token)] if token else [])]
            )
            if answer.status != 200:
                raise _RefusedError(answer.status, answer.reason)
            for each in _items(answer.document):
                count += 1
                yield _slim(each, kind)
            token = text_at(answer.document, "metadata", "continue")
            if not token:
                return
            if count >= _MOST_OBJECTS:
                raise MachineError(f"there are more than {_MOST_OBJECTS}")


class _RefusedError(Exception):
    """The server answered with no list."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = "the list changed while it was read" if status == _GONE else reason


def _items(document: Mapping[str, Any]) -> tuple[KubeObject, ...]:
    """The entries of a list. Raises MachineError for an answer that is none."""
    # None as Go writes a list without entries.
    items = document.get("items", 0)
    items = [] if items is None else items
    named = tuple(each for each in items_at(document, "items") if name_of(each))
    is_list = isinstance(items, list) and str(document.get("kind", "")).endswith("List")
    if not is_list or len(named) != len(items):
        raise MachineError("the server's answer is not a list of Kubernetes objects")
    return named


def _slim(given: KubeObject, kind: Kind) -> KubeObject:
    """Without who wrote which field, half of an object; entries of a list lack their kind."""
    metadata: Any = given.get("metadata")
    if isinstance(metadata, dict):
        metadata = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**given, "apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}
