"""A live cluster, as its API server tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import ApiClient
from plimsoll.tune.cluster.cluster_view import ClusterView
from plimsoll.tune.cluster.kinds import Kind
from plimsoll.tune.host.view.unread import Unread, UnreadCause
from plimsoll.tune.kubernetes.kube_object import KubeObject, items_at, namespace_of, text_at

# What kubectl asks for at a time; the server keeps a list of more consistent for minutes.
_PAGE = 500
_MOST_OBJECTS = 200_000
_CAUSES: dict[int, UnreadCause] = {401: "forbidden", 403: "forbidden", 404: "absent"}
_GONE = 410


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
            # The server begins with what `where` says already.
            reason = refused.reason.removeprefix(f"{kind.resource} is forbidden: ")
            return Unread(kind.resource, cause, f"{refused.status} {reason}".strip())
        except MachineError as error:
            return Unread(kind.resource, "unreadable", error.message)

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
            for each in items_at(answer.document, "items"):
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


def _slim(given: KubeObject, kind: Kind) -> KubeObject:
    """Without who wrote which field, half of an object; entries of a list lack their kind."""
    metadata: Any = given.get("metadata")
    if isinstance(metadata, dict):
        metadata = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**given, "apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}
