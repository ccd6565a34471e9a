"""A live cluster, as its API server tells."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import NoneType
from typing import Any

from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import ApiClient
from plimsoll.tune.cluster.kinds import Kind
from plimsoll.tune.cluster.object_judgement import ClusterView
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
_MAX_OBJECTS = 200_000
# Pages may be short, even empty, where a filter leaves objects out.
_MAX_PAGES = 4_000
# For all kinds together, looked at between answers.
_LONGEST_S = 900.0
_CAUSES: dict[int, UnreadCause] = {401: "forbidden", 403: "forbidden", 404: "absent"}
_GONE = 410
# How the groups end that are Kubernetes' own, of those that are read.
_BUILT_IN = ".k8s.io"


class ApiCluster(ClusterView):
    """Each kind is listed once, when it is first needed, and kept."""

    def __init__(self, client: ApiClient, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` tells seconds since some moment."""
        self.where = client.server
        self._client = client
        self._clock, self._began = clock, clock()
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
            answer = self._client.get("/version").answered()
        except MachineError:
            return False
        return answer.status == 403 or bool(text_at(answer.document, "gitVersion"))

    def _pages(self, kind: Kind) -> Iterator[KubeObject]:
        query = [("limit", str(_PAGE))]
        if kind.only:
            query.append(("fieldSelector", f"metadata.name={kind.only}"))
        token, count, tokens = "", 0, set[str]()
        while True:
            if self._clock() - self._began > _LONGEST_S:
                raise MachineError(
                    f"reading the cluster took more than {_LONGEST_S / 60:g} minutes"
                )
            answer = self._client.get(
                kind.path, [*query, *([("continue", token)] if token else [])]
            ).answered()
            if answer.status != 200:
                raise _RefusedError(answer.status, answer.reason)
            for each in _items(answer.document, kind):
                count += 1
                yield _slim(each, kind)
            token = text_at(answer.document, "metadata", "continue")
            if not token:
                return
            if token in tokens:
                raise MachineError("the server's list has no end: it continues where it was before")
            tokens.add(token)
            if count >= _MAX_OBJECTS:
                raise MachineError(f"there are more than {_MAX_OBJECTS}")
            if len(tokens) >= _MAX_PAGES:
                raise MachineError(f"the server's list has more than {_MAX_PAGES} pages")


class _RefusedError(Exception):
    """The server answered with no list."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = "the list changed while it was read" if status == _GONE else reason


def _items(document: Mapping[str, Any], kind: Kind) -> tuple[KubeObject, ...]:
    """The entries of a list of `kind`. Raises MachineError for an answer that is none."""
    if not _is_list(document):
        raise MachineError("the server's answer is not a list of Kubernetes objects")
    named = tuple(each for each in items_at(document, "items") if name_of(each))
    if len(named) != len(document["items"] or ()):
        raise MachineError("the server's answer is not a list of Kubernetes objects")
    found = document["kind"], document.get("apiVersion")
    if found != (f"{kind.name}List", kind.api_version) or not all(
        each.get("kind", kind.name) == kind.name
        and each.get("apiVersion", kind.api_version) == kind.api_version
        for each in named
    ):
        raise MachineError(f"the server's answer is not a {kind.name}List of {kind.api_version}")
    return named


def _is_list(document: Mapping[str, Any]) -> bool:
    """Whether the answer has a list's fields; `items` is null where Go writes one without any."""
    metadata = document.get("metadata")
    return (
        str(document.get("kind", "")).endswith("List")
        and isinstance(metadata, Mapping)
        and isinstance(metadata.get("continue", ""), str)
        and "items" in document
        and isinstance(document["items"], list | NoneType)
    )


def _slim(given: KubeObject, kind: Kind) -> KubeObject:
    """Without who wrote which field, half of an object; entries of a list lack their kind."""
    metadata: Any = given.get("metadata")
    if isinstance(metadata, dict):
        metadata = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**given, "apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}
