"""Stands in for controllers and scheduler where they are not built: a fake, for tests alone.

Run in a control plane's folder. It gives namespaces their account and takes them apart, makes the
pods of deployments, each bound to the first node, and takes the taints from nodes. So the course
of a churn run is tested on a real API server and etcd in seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from plimsoll.host.kubernetes.api_client import ApiClient

_NODE = "fake-000"
_COLLECTIONS = (
    "/apis/apps/v1/namespaces/{}/deployments",
    "/api/v1/namespaces/{}/pods",
    "/api/v1/namespaces/{}/secrets",
    "/api/v1/namespaces/{}/configmaps",
    "/api/v1/namespaces/{}/services",
    "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
)
_TAKEN_APART: set[str] = set()


def follow(client: ApiClient, path: str, act: Callable[[Mapping[str, Any]], None]) -> None:
    """Act on every object of a collection, and on each change of one."""
    while True:
        try:
            answer = client.get(path)
            for each in answer.document.get("items") or ():
                act(each)
            version = answer.document["metadata"]["resourceVersion"]
            for event in client.watch(path, {}, version, 300):
                if event.kind in ("ADDED", "MODIFIED"):
                    act(event.object)
        except Exception as error:
            print(f"{path}: {error}", file=sys.stderr, flush=True)
            time.sleep(0.5)


def on_namespace(client: ApiClient, namespace: Mapping[str, Any]) -> None:
    """Give it an account, or take it apart."""
    metadata = namespace["metadata"]
    name = metadata["name"]
    if not metadata.get("deletionTimestamp"):
        document = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        client.create(f"/api/v1/namespaces/{name}/serviceaccounts", document)
        return
    if metadata["uid"] in _TAKEN_APART:
        return
    _TAKEN_APART.add(metadata["uid"])
    for collection in _COLLECTIONS:
        path = collection.format(name)
        for each in client.get(path).document.get("items") or ():
            client.delete(f"{path}/{each['metadata']['name']}", grace_s=0)
    finalized = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {}}
    client._call("PUT", f"/api/v1/namespaces/{name}/finalize", body=finalized)


def on_deployment(client: ApiClient, deployment: Mapping[str, Any]) -> None:
    """Make its pods."""
    if deployment["metadata"].get("deletionTimestamp"):
        return
    namespace, name = deployment["metadata"]["namespace"], deployment["metadata"]["name"]
    template = deployment["spec"]["template"]
    spec = {**template["spec"], "nodeName": _NODE}
    for number in range(deployment["spec"]["replicas"]):
        metadata = {"name": f"{name}-{number}", "labels": template["metadata"]["labels"]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        for _ in range(50):
            if client.create(f"/api/v1/namespaces/{namespace}/pods", pod).status in (201, 409):
                break
            # The namespace's account comes in its own time.
            time.sleep(0.1)


def on_node(client: ApiClient, node: Mapping[str, Any]) -> None:
    """Take its taints."""
    if node["spec"].get("taints"):
        client.patch(f"/api/v1/nodes/{node['metadata']['name']}", {"spec": {"taints": None}})


def main() -> None:
    """Be all of them until killed."""
    client = ApiClient.of(None, "kubeconfig")
    for path, act in (
        ("/api/v1/namespaces", on_namespace),
        ("/api/v1/nodes", on_node),
        ("/apis/apps/v1/deployments", on_deployment),
    ):
        target = threading.Thread(
            target=follow, args=(client, path, lambda each, act=act: act(client, each))
        )
        target.start()


if __name__ == "__main__":
    main()
