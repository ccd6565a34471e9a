"""Who may write: what a test says that people, kubelets, operators and controllers did."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import kubernetes.config
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import NotFoundError

# Under strict validation the server refuses fields that it would drop in silence.
_STRICT = ("fieldValidation", "Strict")
_LONGEST_WAIT_S = 120.0


class Refused(Exception):
    """The server's own words on why it does not do what was requested."""


class Owner:
    """Writes to one server, by Kubernetes' own client, which asks it for paths and plurals."""

    def __init__(self, config: Path) -> None:
        self._client = DynamicClient(
            kubernetes.config.new_client_from_config(str(config), persist_config=False)
        )
        self._applied: list[Mapping[str, Any]] = []

    def apply(self, given: Mapping[str, Any]) -> None:
        """As `kubectl apply --server-side --validate=strict`; the status through its own path.

        Raises Refused.
        """
        document = copy.deepcopy(dict(given))
        resource = self._resource(document)
        by_itself = "status" in resource.subresources
        status = document.pop("status", None) if by_itself else None
        query = [_STRICT, ("fieldManager", "test"), ("force", "true")]
        _requested(
            resource.server_side_apply,
            body=document,
            query_params=query,
            **_place(resource, document),
        )
        # Nothing here would finish the deletion of a namespace.
        if document["kind"] != "Namespace":
            self._applied.append(given)
        if status:
            self.patch(document, {"status": status}, "status")

    def apply_all(self, given: Iterable[Mapping[str, Any]]) -> None:
        """Each in its turn, after the namespaces that they need.

        What has nothing but a status is a report on an object that is there.
        """
        for each in given:
            if namespace := each["metadata"].get("namespace"):
                self._make_namespace(namespace)
            if each.keys() == {"apiVersion", "kind", "metadata", "status"}:
                self.patch(each, {"status": each["status"]}, "status")
            else:
                self.apply(each)

    def clear(self) -> None:
        """Delete all that was applied, the last first; CRDs and namespaces stay."""
        while self._applied:
            self.delete(self._applied.pop())

    def install(self, crds: Iterable[Mapping[str, Any]]) -> None:
        """Apply CRDs, and wait until the server serves them."""
        for each in crds:
            self.apply(each)
            self._wait_until_served(each)
        self._applied.clear()

    def patch(self, given: Mapping[str, Any], changes: Mapping[str, Any], part: str = "") -> None:
        """Merge `changes` into the object that `given` names; null takes a field out.

        Raises Refused.
        """
        resource = self._resource(given)
        target = resource.subresources[part] if part else resource
        _requested(
            target.patch,
            body=dict(changes),
            content_type="application/merge-patch+json",
            query_params=[_STRICT],
            **_place(resource, given),
        )

    def delete(self, given: Mapping[str, Any]) -> None:
        """Delete it at once, whether it is there or not: no kubelet has to agree."""
        resource = self._resource(given)
        try:
            resource.delete(body={"gracePeriodSeconds": 0}, **_place(resource, given))
        except NotFoundError:
            return

    def find(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The object that `given` names, as the server has it."""
        resource = self._resource(given)
        found: dict[str, Any] = resource.get(**_place(resource, given)).to_dict()
        return found

    def find_if_there(self, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """The object that `given` names; None where the server has none."""
        try:
            return self.find(given)
        except NotFoundError:
            return None

    def names(self, api_version: str, kind: str, namespace: str) -> list[str]:
        """The names of all objects of a kind in a namespace."""
        resource = self._client.resources.get(api_version=api_version, kind=kind)
        return [each.metadata.name for each in resource.get(namespace=namespace).items]

    def delete_all(self, api_version: str, kind: str, namespace: str) -> None:
        """Delete all objects of a kind in a namespace, as kubectl does, and do not wait."""
        resource = self._client.resources.get(api_version=api_version, kind=kind)
        for name in self.names(api_version, kind, namespace):
            resource.delete(name=name, namespace=namespace)

    def may(self, user: str, verb: str, kind: str, namespace: str, name: str) -> bool:
        """Whether the server lets that user do so; a subresource's `kind` is as in pods/exec."""
        resource = self._client.resources.get(
            api_version="authorization.k8s.io/v1", kind="SubjectAccessReview"
        )
        plural, _, part = kind.partition("/")
        attributes = {"verb": verb, "resource": plural, "namespace": namespace, "name": name}
        spec = {"user": user, "resourceAttributes": {**attributes, "subresource": part}}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
        return bool(resource.create(body={**review, "spec": spec}).status.allowed)

    def token(self, namespace: str, account: str) -> str:
        """A token of the service account, as a pod of it gets one: for an hour."""
        resource = self._client.resources.get(api_version="v1", kind="ServiceAccount")
        requested = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 3600},
        }
        made = resource.subresources["token"].create(
            body=requested, name=account, namespace=namespace
        )
        return str(made.to_dict()["status"]["token"])

    def _resource(self, given: Mapping[str, Any]) -> Any:
        return self._client.resources.get(api_version=given["apiVersion"], kind=given["kind"])

    def _make_namespace(self, name: str) -> None:
        resource = self._client.resources.get(api_version="v1", kind="Namespace")
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        # Another manager than of what is applied, whose labels would else be taken off again.
        resource.server_side_apply(body=body, field_manager="namespaces")

    def _wait_until_served(self, crd: Mapping[str, Any]) -> None:
        deadline = time.monotonic() + _LONGEST_WAIT_S
        while time.monotonic() < deadline:
            conditions = self.find(crd)["status"]["conditions"] or []
            if any(
                each["type"] == "Established" and each["status"] == "True" for each in conditions
            ):
                return
            time.sleep(0.1)
        raise AssertionError(f"the server does not serve {crd['metadata']['name']}: {conditions}")


def _requested(ask: Callable[..., Any], **words: Any) -> None:
    try:
        ask(**words)
    except ApiException as error:
        raise Refused(json.loads(error.body)["message"]) from None


def _place(resource: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What kubectl takes where an object does not say its namespace is "default"."""
    metadata = given["metadata"]
    namespace = metadata.get("namespace", "default") if resource.namespaced else None
    return {"name": metadata["name"], "namespace": namespace}
