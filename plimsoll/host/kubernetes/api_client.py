"""A connection to a cluster's API server, by Kubernetes' own Python client.

The client knows what a kubeconfig may say: certificates, tokens, plugins that log in. It is an
extra, for most who use Plimsoll have no cluster. Documents go out and come in as plain JSON: the
package's models would cost several times the CPU, on a machine that is being measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from plimsoll.errors import InputError, MachineError
from plimsoll.extras import added_by
from plimsoll.host.http.origin import REDIRECTIONS, Redirected
from plimsoll.host.kubernetes.bounded_retry import BoundedRetry
from plimsoll.host.kubernetes.client_settings import (
    SERVER_SETTING,
    client_settings,
    shown_kubeconfig,
)
from plimsoll.host.kubernetes.cluster_errors import (
    LONGEST_REASON,
    ClusterRefused,
    ClusterUnreachable,
    JunkAnswerError,
    refused,
    translate_api_errors,
    unreachable,
)
from plimsoll.host.kubernetes.exec_stream import ExecStream, open_exec

if TYPE_CHECKING:
    from urllib3 import Retry

CONFLICT, NOT_FOUND, TOO_MANY = 409, 404, 429
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
_JSON = "application/json"
# Connecting, and waiting for each part of an answer.
_TIMEOUT_S = (10, 60)
Query = Mapping[str, str] | Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """An answer's `status` and `document`, which says why it was refused.

    Where nothing answered the status is 0, and the request may be repeated. `error` says why
    there is no answer, or none of an API server.
    """

    status: int
    document: Mapping[str, Any]
    error: ClusterUnreachable | Redirected | None = None

    @property
    def ok(self) -> bool:
        """Whether it did what was requested."""
        return 200 <= self.status < 300

    @property
    def reason(self) -> str:
        """The server's words for a refusal."""
        return str(self.document.get("message") or self.status)[:LONGEST_REASON]

    def answered(self) -> ApiAnswer:
        """The same. Raises ClusterUnreachable, JunkAnswerError or Redirected without an answer."""
        if self.error is not None:
            raise self.error
        return self


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, and the object."""

    kind: str
    object: Mapping[str, Any]


class ApiClient:
    """One API server. May be used by several threads at once."""

    def __init__(self, client: Any, max_answer_bytes: int = 256 << 20) -> None:
        """`client` is what `configured_client` returns; a longer answer is an error."""
        self._client = client
        self._max_answer_bytes = max_answer_bytes

    @classmethod
    def of(cls, context: str | None, kubeconfig: str | None = None) -> ApiClient:
        """Of what a kubeconfig names, not yet connected. Raises MachineError and InputError."""
        client = configured_client(context, kubeconfig)
        client.configuration.connection_pool_maxsize = 32
        # A list of pods in one answer: of a thousand namespaces some hundred MB.
        return cls(client, max_answer_bytes=1 << 30)

    @property
    def server(self) -> str:
        """The server's URL."""
        return str(self._client.configuration.host)

    def get(self, path: str, query: Query = ()) -> ApiAnswer:
        """Read an object or a list of them."""
        return self.request("GET", path, query=query)

    def create(self, path: str, document: Mapping[str, Any], query: Query = ()) -> ApiAnswer:
        """Post a document to a collection."""
        return self.request("POST", path, query=query, body=document)

    def delete(self, path: str, *, grace_s: int | None = None) -> ApiAnswer:
        """Delete an object, and what it owns in the background."""
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if grace_s is not None:
            options["gracePeriodSeconds"] = grace_s
        return self.request("DELETE", path, body=options)

    def patch(self, path: str, changes: Mapping[str, Any], kind: str = MERGE_PATCH) -> ApiAnswer:
        """Change an object."""
        return self.request("PATCH", path, body=changes, content=kind)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: Mapping[str, Any] | None = None,
        content: str = _JSON,
    ) -> ApiAnswer:
        """What the server answers, a refusal too; an answer without status where it does not."""
        try:
            with translate_api_errors(f"{method} {path}", self.server):
                response = _call(self._client, method, path, query, body, content=content)
                try:
                    document = self._document(response.read(self._max_answer_bytes + 1))
                finally:
                    response.release_conn()
        except ClusterRefused as error:
            return ApiAnswer(error.status, {"message": error.reason})
        except Redirected as error:
            return ApiAnswer(error.status, {"message": error.message}, error)
        except ClusterUnreachable as error:
            return ApiAnswer(0, {"message": error.message}, error)
        return ApiAnswer(int(response.status), document)

    def text(self, path: str, query: Query = ()) -> str:
        """What the server answers as text, such as its metrics.

        Raises ClusterRefused, ClusterUnreachable.
        """
        with translate_api_errors(f"GET {path}", self.server):
            response = _call(self._client, "GET", path, query, accept="text/plain, */*")
            try:
                return bytes(response.read(self._max_answer_bytes)).decode(errors="replace")
            finally:
                response.release_conn()

    def items(self, path: str, selector: str) -> tuple[list[Mapping[str, Any]], str]:
        """The objects that a label selects, and from which version a watch goes on.

        Raises ClusterRefused, ClusterUnreachable.
        """
        answer = self.get(path, {"labelSelector": selector}).answered()
        if not answer.ok:
            raise self.refused(answer, f"GET {path}")
        version = str(answer.document.get("metadata", {}).get("resourceVersion", ""))
        return list(answer.document.get("items") or ()), version

    def watch(
        self, path: str, query: Mapping[str, str], version: str, timeout_s: int
    ) -> Iterator[WatchEvent]:
        """What becomes of objects from `version` on, for `timeout_s` at most.

        Ends early where the server ends it. Raises ClusterRefused, ClusterUnreachable.
        """
        whole = {
            **query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(timeout_s),
        }
        with translate_api_errors(f"a watch of {path}", self.server):
            response = _call(self._client, "GET", path, whole, timeout_s=(10, timeout_s + 30))
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
        self, namespace: str, pod: str, container: str | None, command: Sequence[str]
    ) -> ExecStream:
        """Start a command in a container. Raises ClusterRefused, ClusterUnreachable."""
        with translate_api_errors("exec", self.server):
            return open_exec(self._client, namespace, pod, container, command)

    def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> list[str]:
        """The last lines of a container's log. Raises ClusterRefused, ClusterUnreachable."""
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
        return self.text(path, {"container": container, "tailLines": str(lines)}).splitlines()

    def refused(self, answer: ApiAnswer, what: str) -> ClusterRefused:
        """The error of an answer that is a refusal of `what`."""
        return refused(what, answer.reason, self.server, answer.status)

    def _document(self, content: bytes) -> Mapping[str, Any]:
        if len(content) > self._max_answer_bytes:
            raise unreachable(
                f"an answer is larger than {self._max_answer_bytes >> 20} MiB", self.server
            )
        try:
            found = json.loads(content, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            raise unreachable(
                "it answered with something that is not JSON", self.server, JunkAnswerError
            ) from None
        if not isinstance(found, dict):
            raise unreachable(
                "it answered with JSON that is not an object", self.server, JunkAnswerError
            )
        return found


def _call(
    client: Any,
    method: str,
    path: str,
    query: Query = (),
    body: Mapping[str, Any] | None = None,
    *,
    accept: str = _JSON,
    content: str = _JSON,
    timeout_s: tuple[int, int] = _TIMEOUT_S,
) -> Any:
    """The response, not yet read, of one request as the client's user.

    `timeout_s` is for connecting and for reading. Raises Redirected, and what the package
    raises: its ApiException of a refusal, urllib3's HTTPError where nothing answers.
    """
    from kubernetes.client.exceptions import ApiException  # noqa: PLC0415

    headers = {"Accept": accept}
    if body is not None:
        headers["Content-Type"] = content
    try:
        return client.call_api(
            path,
            method,
            query_params=list(query.items() if isinstance(query, Mapping) else query),
            header_params=headers,
            body=body,
            auth_settings=["BearerToken"],
            _preload_content=False,
            _return_http_data_only=True,
            _request_timeout=timeout_s,
        )
    except ApiException as error:
        if error.status not in REDIRECTIONS:
            raise
        where, location = f"{client.configuration.host}{path}", error.headers.get("Location")
        raise Redirected(where, error.status, location, setting=SERVER_SETTING) from None


def _refuse_constant(name: str) -> NoReturn:
    """Python takes NaN and Infinity, which JSON does not have (RFC 8259, section 6)."""
    raise ValueError(f"{name} is no JSON")


def connect(context: str | None = None, kubeconfig: str | None = None) -> ApiClient:
    """Connect as kubectl would: by $KUBECONFIG or ~/.kube/config, or from inside a pod.

    Raises MachineError without the client's package, where the server does not answer, and
    where it does not know who asks; InputError for a kubeconfig or context that is none. What
    its answers are worth, junk among them, is for each reading of them to say; a redirection is
    an error of its own, as the kubeconfig is to name the server itself.
    """
    client = ApiClient(configured_client(context, kubeconfig, BoundedRetry()))
    version = client.get("/version")
    if isinstance(version.error, JunkAnswerError):
        return client
    if version.answered().status == 401:
        raise MachineError(
            "the API server does not know who asks",
            where=client.server,
            remedy="log in again (oc login), or name another user with --context",
        )
    return client


def configured_client(
    context: str | None, kubeconfig: str | None = None, retries: Retry | None = None
) -> Any:
    """A client of Kubernetes' package with the kubeconfig's settings, not yet connected.

    With `retries` it tries again as these say.
    Raises MachineError without the package, InputError for a kubeconfig or context that is none.
    """
    try:
        from kubernetes import client  # noqa: PLC0415
    except ImportError:
        raise MachineError(
            "reading a cluster needs the Python package kubernetes",
            where="--kube",
            remedy=f"{added_by('kube')}, or read a must-gather with --from",
        ) from None
    try:
        return client.ApiClient(client_settings(context, kubeconfig, retries))
    except InputError:
        raise
    # The client raises whatever the parts of a broken kubeconfig make it raise.
    except Exception as error:
        raise InputError(
            f"the kubeconfig cannot be used: {' '.join(str(error).split())[:LONGEST_REASON]}",
            where=shown_kubeconfig(kubeconfig),
            remedy="list what there is with kubectl config get-contexts",
        ) from None
