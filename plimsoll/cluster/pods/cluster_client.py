"""One namespace of a cluster: objects made, read and deleted, and commands run in its pods."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.cluster.pods.exec_stream import ExecStream
from plimsoll.cluster.pods.place import ClusterPlace
from plimsoll.errors import MachineError, PlimsollError
from plimsoll.tune.cluster.api_client import (
    API_TIMEOUT_S,
    LONGEST_REASON,
    call_api,
    configured_client,
    described,
)
from plimsoll.tune.render.files.manifest import Manifest

# Of each kind that we make, where the server has it.
_PATHS = {
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps",
    "Job": "/apis/batch/v1/namespaces/{namespace}/jobs",
    "Pod": "/api/v1/namespaces/{namespace}/pods",
}
KINDS = tuple(_PATHS)


class ClusterUnreachable(PlimsollError):
    """The API server did not answer, or hung up: what goes on in the cluster goes on."""

    exit_code = MachineError.exit_code


class ClusterRefused(PlimsollError):
    """The API server refused a request; `status` is HTTP's."""

    exit_code = MachineError.exit_code

    def __init__(self, message: str, *, where: str, remedy: str, status: int) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.status = status


class ClusterClient:
    """A connection to one namespace, as kubectl would make it."""

    def __init__(self, client: Any, place: ClusterPlace, namespace: str) -> None:
        self._client = client
        self.place = place
        self.namespace = namespace

    @classmethod
    def connect(cls, place: ClusterPlace, kubeconfig: str | None = None) -> ClusterClient:
        """Raises MachineError, InputError as `configured_client`; nothing is sent yet."""
        client = configured_client(place.context, kubeconfig)
        namespace = place.namespace or _namespace_of(place.context, kubeconfig) or "default"
        return cls(client, place, namespace)

    def create(self, manifest: Manifest, *, dry_run: bool = False) -> Mapping[str, Any]:
        """Make the object, every field known to the server; with `dry_run` only admit it.

        Raises ClusterRefused, with status 409 where it is there already, and
        ClusterUnreachable.
        """
        query = [("fieldValidation", "Strict"), ("fieldManager", "plimsoll")]
        if dry_run:
            query.append(("dryRun", "All"))
        return self._ask("POST", self._path(manifest["kind"]), query, manifest)

    def read(self, kind: str, name: str) -> Mapping[str, Any] | None:
        """The object; None where there is none."""
        try:
            return self._ask("GET", f"{self._path(kind)}/{name}")
        except ClusterRefused as error:
            if error.status == 404:
                return None
            raise

    def labelled(self, kind: str, selector: str) -> tuple[Mapping[str, Any], ...]:
        """All objects of a kind that a label selector selects."""
        found = self._ask("GET", self._path(kind), [("labelSelector", selector)])
        return tuple(found.get("items") or ())

    def delete(self, kind: str, name: str) -> None:
        """Delete the object and what it owns; one that is gone is none of a failure."""
        query = [("propagationPolicy", "Background")]
        try:
            self._ask("DELETE", f"{self._path(kind)}/{name}", query)
        except ClusterRefused as error:
            if error.status != 404:
                raise

    def run_in(self, pod: str, container: str, command: Sequence[str]) -> ExecStream:
        """Start a command in a container, its standard input and output connected.

        Raises ClusterUnreachable and ClusterRefused.
        """
        from kubernetes.client import CoreV1Api  # noqa: PLC0415
        from kubernetes.stream import stream  # noqa: PLC0415

        # The client's own connections go on as they are.
        api = CoreV1Api(_copy_of(self._client))
        with self._explained("exec"):
            connection = stream(
                api.connect_get_namespaced_pod_exec,
                pod,
                self.namespace,
                container=container,
                command=list(command),
                stdin=True,
                stdout=True,
                stderr=True,
                tty=False,
                binary=True,
                _preload_content=False,
                _request_timeout=API_TIMEOUT_S,
            )
        return ExecStream(connection.sock, f"{pod}/{container}")

    def _path(self, kind: str) -> str:
        return _PATHS[kind].format(namespace=self.namespace)

    def _ask(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]] = (),
        body: Manifest | None = None,
    ) -> Mapping[str, Any]:
        with self._explained(f"{method} {path}"):
            response = call_api(self._client, method, path, query, body)
            found = json.loads(response.read())
        return found if isinstance(found, dict) else {}

    def _explained(self, what: str) -> _Explained:
        return _Explained(what, str(self._client.configuration.host))


class _Explained:
    """Turns what the client raises into our errors; as a `with`."""

    def __init__(self, what: str, server: str) -> None:
        self._what = what
        self._server = server

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from kubernetes.client.exceptions import ApiException  # noqa: PLC0415
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        # The package takes the body of an upgrade that was refused for bytes, and it has none.
        if isinstance(error, AttributeError) and isinstance(error.__context__, ApiException):
            error = error.__context__
        if isinstance(error, ApiException) and error.status:
            raise ClusterRefused(
                f"the API server refused {self._what}: {described(error)[:LONGEST_REASON]}",
                where=self._server,
                remedy="see docs/kubernetes.md on the rights that a run needs",
                status=int(error.status),
            ) from None
        if isinstance(error, ApiException | HTTPError | OSError | ValueError):
            reason = " ".join(str(getattr(error, "reason", None) or error).split())
            raise ClusterUnreachable(
                f"the API server did not answer {self._what}: {reason[:LONGEST_REASON]}",
                where=self._server,
                remedy="check with kubectl version; go on with --resume",
            ) from error


def _copy_of(client: Any) -> Any:
    """Another client of the same settings: the package swaps a client's request for a socket's."""
    from kubernetes.client import ApiClient  # noqa: PLC0415

    copy = ApiClient(client.configuration)
    copy.default_headers.update(client.default_headers)
    return copy


def _namespace_of(context: str | None, kubeconfig: str | None) -> str | None:
    """The context's own namespace, if it names one."""
    import os  # noqa: PLC0415

    from kubernetes import config  # noqa: PLC0415

    try:
        contexts, current = config.list_kube_config_contexts(
            kubeconfig or os.environ.get("KUBECONFIG") or None
        )
    # As for `configured_client`, which has said by now what is wrong with it.
    except Exception:
        return None
    chosen = next((each for each in contexts if each["name"] == context), current)
    found = chosen.get("context", {}).get("namespace")
    return str(found) if found else None
