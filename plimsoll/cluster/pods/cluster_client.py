"""One namespace of a cluster: objects made, read and deleted, and commands run in its pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote, unquote, urlsplit

from plimsoll.errors import InputError
from plimsoll.host.kubernetes.api_client import NOT_FOUND, ApiAnswer, ApiClient
from plimsoll.host.kubernetes.client_settings import kubeconfig_files
from plimsoll.host.kubernetes.exec_stream import ExecStream
from plimsoll.tune.render.files.rendered_file import Manifest

_REMEDY = (
    "write kube://CONTEXT or kube://CONTEXT/NAMESPACE, a slash within the context as %2F; "
    "kubectl config get-contexts lists the contexts"
)


@dataclass(frozen=True, slots=True)
class ClusterPlace:
    """A context of the kubeconfig, None for its current one, and a namespace.

    Without a namespace it is the context's own.
    """

    context: str | None
    namespace: str | None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `kube://CONTEXT[/NAMESPACE]`. Raises InputError."""
        try:
            parts = urlsplit(text)
        except ValueError:
            raise _not_a_place(text) from None
        namespace = parts.path.removeprefix("/").removesuffix("/")
        # The part between the slashes may hold a colon and an at sign, which are nothing here.
        context = unquote(parts.netloc)
        if parts.scheme != "kube" or "/" in namespace or parts.query or parts.fragment:
            raise _not_a_place(text)
        return cls(context or None, namespace or None)

    def __str__(self) -> str:
        tail = f"/{self.namespace}" if self.namespace else ""
        return f"kube://{quote(self.context or '', safe=':@')}{tail}"


def _not_a_place(text: str) -> InputError:
    return InputError(f"{text!r} is not a place in a cluster", where="--on", remedy=_REMEDY)


# Of each kind that we make, where the server has it.
_PATHS = {
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps",
    "Job": "/apis/batch/v1/namespaces/{namespace}/jobs",
    "Pod": "/api/v1/namespaces/{namespace}/pods",
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings",
}
# Those that are looked for. The others go with the config map that owns them, and who may make
# them need not be allowed to list them.
KINDS = ("ConfigMap", "Job", "Pod")


class ClusterClient:
    """A connection to one namespace, as kubectl would make it."""

    def __init__(self, client: ApiClient, place: ClusterPlace, namespace: str) -> None:
        self._client = client
        self.place = place
        self.namespace = namespace

    @classmethod
    def connect(cls, place: ClusterPlace, kubeconfig: str | None = None) -> ClusterClient:
        """Raises MachineError, InputError as `ApiClient.of`; nothing is sent yet."""
        client = ApiClient.of(place.context, kubeconfig)
        namespace = place.namespace or _namespace_of(place.context, kubeconfig) or "default"
        return cls(client, place, namespace)

    def create(self, manifest: Manifest, *, dry_run: bool = False) -> Mapping[str, Any]:
        """Make the object, every field known to the server; with `dry_run` only admit it.

        Raises ClusterRefused, with status 409 where it is there already, and
        ClusterUnreachable.
        """
        query = {"fieldValidation": "Strict", "fieldManager": "plimsoll"}
        if dry_run:
            query["dryRun"] = "All"
        path = self._path(manifest["kind"])
        return self._done(self._client.create(path, manifest, query), f"POST {path}")

    def read(self, kind: str, name: str) -> Mapping[str, Any] | None:
        """The object; None where there is none."""
        path = f"{self._path(kind)}/{name}"
        answer = self._client.get(path)
        return None if answer.status == NOT_FOUND else self._done(answer, f"GET {path}")

    def labelled(self, kind: str, selector: str) -> tuple[Mapping[str, Any], ...]:
        """All objects of a kind that a label selector selects."""
        return tuple(self._client.items(self._path(kind), selector)[0])

    def delete(self, kind: str, name: str) -> None:
        """Delete the object and what it owns; deleting a missing object is not an error."""
        path = f"{self._path(kind)}/{name}"
        answer = self._client.delete(path)
        if answer.status != NOT_FOUND:
            self._done(answer, f"DELETE {path}")

    def run_in(self, pod: str, container: str, command: Sequence[str]) -> ExecStream:
        """Start a command in a container, its standard input and output connected.

        Raises ClusterUnreachable and ClusterRefused.
        """
        return self._client.run_in(self.namespace, pod, container, command)

    def _path(self, kind: str) -> str:
        return _PATHS[kind].format(namespace=self.namespace)

    def _done(self, answer: ApiAnswer, what: str) -> Mapping[str, Any]:
        """The document. Raises ClusterUnreachable and ClusterRefused."""
        if not answer.answered().ok:
            raise self._client.refused(answer, what)
        return answer.document


def _namespace_of(context: str | None, kubeconfig: str | None) -> str | None:
    """The context's own namespace, if it names one."""
    from kubernetes import config  # noqa: PLC0415

    try:
        contexts, current = config.list_kube_config_contexts(kubeconfig_files(kubeconfig))
    # As for `configured_client`, which has said by now what is wrong with it.
    except Exception:
        return None
    chosen = next((each for each in contexts if each["name"] == context), current)
    found = chosen.get("context", {}).get("namespace")
    return str(found) if found else None
