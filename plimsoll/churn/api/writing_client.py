"""A client that also makes, changes and deletes objects, and follows what becomes of them.

Documents go out and come in as plain JSON: the package's models would cost several times the
CPU, on a machine that is being measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import MachineError
from plimsoll.host.http.origin import Redirected
from plimsoll.host.kubernetes.api_client import (
    API_TIMEOUT_S,
    JSON_CONTENT,
    LONGEST_REASON,
    ApiAnswer,
    call_api,
    configured_client,
)
from plimsoll.host.kubernetes.cluster_errors import translate_api_errors
from plimsoll.host.kubernetes.exec_stream import ExecStream, open_exec

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
CONFLICT, NOT_FOUND, TOO_MANY = 409, 404, 429
# A list of pods in one answer: of a thousand namespaces some hundred MB.
_MAX_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, and the object."""

    kind: str
    object: Mapping[str, Any]


class WritingClient:
    """One API server. May be used by several threads at once."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @classmethod
    def of(cls, context: str | None, kubeconfig: str | None) -> WritingClient:
        """Of what a kubeconfig names. Raises MachineError and InputError."""
        client = configured_client(context, kubeconfig)
        client.configuration.connection_pool_maxsize = 32
        return cls(client)

    @property
    def server(self) -> str:
        """The server's URL."""
        return str(self._client.configuration.host)

    def get(self, path: str, query: Mapping[str, str] | None = None) -> ApiAnswer:
        """Read an object or a list of them."""
        return self._call("GET", path, query=query)

    def create(self, path: str, document: Mapping[str, Any]) -> ApiAnswer:
        """Post a document to a collection."""
        return self._call("POST", path, body=document)

    def delete(self, path: str, *, grace_s: int | None = None) -> ApiAnswer:
        """Delete an object, in the background."""
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if grace_s is not None:
            options["gracePeriodSeconds"] = grace_s
        return self._call("DELETE", path, body=options)

    def patch(self, path: str, changes: Mapping[str, Any], kind: str = MERGE_PATCH) -> ApiAnswer:
        """Change an object."""
        return self._call("PATCH", path, body=changes, content=kind)

    def text(self, path: str, query: Mapping[str, str] | None = None) -> str:
        """What the server answers as text, such as its metrics. Raises MachineError."""
        response = self._raw("GET", path, query=query, accept="text/plain, */*")
        try:
            return bytes(response.read(_MAX_BYTES)).decode(errors="replace")
        finally:
            response.release_conn()

    def items(self, path: str, selector: str) -> tuple[list[Mapping[str, Any]], str]:
        """The objects that a label selects, and from which version a watch goes on."""
        answer = self.get(path, {"labelSelector": selector})
        if not answer.ok:
            raise self._refused(answer)
        version = str(answer.document.get("metadata", {}).get("resourceVersion", ""))
        return list(answer.document.get("items") or ()), version

    def watch(
        self, path: str, query: Mapping[str, str], version: str, timeout_s: int
    ) -> Iterator[WatchEvent]:
        """What becomes of objects from `version` on, for `timeout_s` at most.

        Ends early where the server ends it. Raises MachineError where it does not answer.
        """
        whole = {
            **query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(timeout_s),
        }
        response = self._raw("GET", path, query=whole, timeout_s=(10, timeout_s + 30))
        try:
            rest = b""
            for part in response.stream(65536):
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    if line:
                        event = json.loads(line)
                        yield WatchEvent(str(event["type"]), event["object"])
        finally:
            response.close()
            response.release_conn()

    def run_in(
        self, namespace: str, pod: str, container: str, command: Sequence[str]
    ) -> ExecStream:
        """Start a command in a container. Raises ClusterRefused, ClusterUnreachable."""
        with translate_api_errors("exec", self.server):
            return open_exec(self._client, namespace, pod, container, command)

    def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> list[str]:
        """The last lines of a container's log. Raises ClusterRefused, ClusterUnreachable."""
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
        query = {"container": container, "tailLines": str(lines)}
        with translate_api_errors("a log", self.server):
            return self.text(path, query).splitlines()

    def refused(self, answer: ApiAnswer, what: str) -> MachineError:
        """The error of an answer that is a refusal of `what`."""
        return MachineError(
            f"the API server refuses {what}: {answer.reason}",
            where=self.server,
            remedy="check what this user may do with kubectl auth can-i --list",
        )

    def _refused(self, answer: ApiAnswer) -> MachineError:
        return self.refused(answer, "a request")

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        content: str = JSON_CONTENT,
    ) -> ApiAnswer:
        from kubernetes.client.exceptions import ApiException  # noqa: PLC0415

        try:
            response = self._raw(method, path, query=query, body=body, content=content)
        except ApiException as error:
            return ApiAnswer(int(error.status or 0), _document(error.body))
        except Redirected as error:
            return ApiAnswer(error.status, {"message": error.message})
        except MachineError as error:
            # No answer at all: the request may be repeated.
            return ApiAnswer(0, {"message": error.message})
        try:
            return ApiAnswer(int(response.status), _document(response.read(_MAX_BYTES)))
        finally:
            response.release_conn()

    def _raw(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        content: str = JSON_CONTENT,
        accept: str = JSON_CONTENT,
        timeout_s: tuple[int, int] = API_TIMEOUT_S,
    ) -> Any:
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        try:
            return call_api(
                self._client,
                method,
                path,
                list((query or {}).items()),
                body,
                accept=accept,
                content=content,
                timeout_s=timeout_s,
            )
        except HTTPError as error:
            raise MachineError(
                f"the API server does not answer: {error}"[:LONGEST_REASON],
                where=self.server,
                remedy="check with kubectl version",
            ) from None


def _document(content: object) -> Mapping[str, Any]:
    try:
        found = json.loads(content) if isinstance(content, bytes | str) else None
    except (ValueError, RecursionError):
        return {"message": str(content)[:LONGEST_REASON]}
    return found if isinstance(found, dict) else {}
