"""Nodes that are made up: a fake, which starts no container and says so.

`python -m …control_plane.fake_kubelet KUBECONFIG NODES START_S [RESOURCE=AMOUNT…]` registers
nodes, renews their leases, and reports every pod that is scheduled to one of them as running and
ready after START_S seconds. Pods that are to end are gone at once. So a real control plane does
all that it does for a real cluster, and what kubelets, runtimes, images and networks would take
is missing: pod readiness on such nodes is that of API server, scheduler and controllers alone.
"""

from __future__ import annotations

import heapq
import itertools
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from plimsoll.host.entry.entry_point import enter
from plimsoll.host.kubernetes.api_client import (
    CONFLICT,
    STRATEGIC_PATCH,
    ApiClient,
)

# On every node, for all who look at them.
FAKE_LABEL = "plimsoll/fake-kubelet"
_LEASE_S = 40
_RENEW_S = 10.0
_WATCH_S = 300
_PAUSE_S = 0.5
_WORKERS = 8
_VERSION = "v0.0.0-plimsoll-fake"
_CAPACITY = {"cpu": "64", "memory": "256Gi", "pods": "250"}
_ROLES = ("worker", "worker-dpdk", "worker-metallb")


def node_document(name: str, resources: Mapping[str, str]) -> dict[str, Any]:
    """A node that is ready, with room for many pods."""
    labels = {
        "kubernetes.io/hostname": name,
        FAKE_LABEL: "true",
        **{f"node-role.kubernetes.io/{role}": "" for role in _ROLES},
    }
    room = {**_CAPACITY, **resources}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [_condition("Ready")],
            "nodeInfo": {
                **dict.fromkeys(_NODE_INFO, "fake"),
                "kubeletVersion": _VERSION,
                "kubeProxyVersion": _VERSION,
            },
        },
    }


def running_status(pod: Mapping[str, Any], address: str) -> dict[str, Any]:
    """The status of a pod all of whose containers run."""
    now = _now()
    kinds = ("Initialized", "ContainersReady", "Ready")
    containers = [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": "",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        for each in pod["spec"]["containers"]
    ]
    return {
        "phase": "Running",
        "conditions": [_condition(kind) for kind in kinds],
        "containerStatuses": containers,
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": now,
    }


_NODE_INFO = (
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "operatingSystem",
    "architecture",
)


class FakeKubelet:
    """All of the nodes."""

    def __init__(
        self, client: ApiClient, nodes: int, start_s: float, resources: Mapping[str, str]
    ) -> None:
        """`start_s` is how long each pod takes to be ready."""
        self._client = client
        self._names = [f"fake-{number:03}" for number in range(nodes)]
        self._start_s = start_s
        self._resources = resources
        self._addresses = itertools.count(1)
        self._pool = ThreadPoolExecutor(_WORKERS)
        self._started: set[str] = set()
        self._ended: set[str] = set()
        # Pods that start, by the time at which they are to be ready.
        self._starting: list[tuple[float, int, Mapping[str, Any]]] = []
        self._changed = threading.Condition()

    def run(self) -> None:
        """Register the nodes, then look after them for ever."""
        list(self._pool.map(self._register, self._names))
        threading.Thread(target=self._renew_leases, daemon=True).start()
        threading.Thread(target=self._start_due, daemon=True).start()
        while True:
            try:
                self._follow()
            except Exception as error:
                # Of a connection that broke: it begins anew.
                print(f"fake kubelet: {error}", file=sys.stderr, flush=True)
                time.sleep(_PAUSE_S)

    def _register(self, name: str) -> None:
        answer = self._client.create("/api/v1/nodes", node_document(name, self._resources))
        if not answer.ok and answer.status != CONFLICT:
            raise self._client.refused(answer, f"the node {name}")
        self._renew(name)

    def _renew_leases(self) -> None:
        while True:
            time.sleep(_RENEW_S)
            list(self._pool.map(self._renew, self._names))

    def _renew(self, name: str) -> None:
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        spec = {
            "holderIdentity": name,
            "leaseDurationSeconds": _LEASE_S,
            "renewTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
        }
        if self._client.patch(f"{path}/{name}", {"spec": spec}).ok:
            return
        kind = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
        self._client.create(path, {**kind, "metadata": {"name": name}, "spec": spec})

    def _follow(self) -> None:
        """Pods as they are now, then what becomes of them."""
        answer = self._client.get("/api/v1/pods")
        if not answer.ok:
            raise self._client.refused(answer, "the list of pods")
        for pod in answer.document.get("items") or ():
            self._take(pod)
        version = str(answer.document["metadata"]["resourceVersion"])
        query = {"fieldSelector": "spec.nodeName!="}
        for event in self._client.watch("/api/v1/pods", query, version, _WATCH_S):
            if event.kind == "ERROR":
                return
            if event.kind in ("ADDED", "MODIFIED"):
                self._take(event.object)
            elif event.kind == "DELETED":
                uid = event.object["metadata"]["uid"]
                self._started.discard(uid)
                self._ended.discard(uid)

    def _take(self, pod: Mapping[str, Any]) -> None:
        uid = pod["metadata"]["uid"]
        if pod["metadata"].get("deletionTimestamp"):
            if uid not in self._ended:
                self._ended.add(uid)
                self._pool.submit(self._end, pod)
            return
        if not pod["spec"].get("nodeName") or uid in self._started:
            return
        if pod.get("status", {}).get("phase", "Pending") != "Pending":
            return
        self._started.add(uid)
        with self._changed:
            due_s = time.monotonic() + self._start_s
            heapq.heappush(self._starting, (due_s, next(self._addresses), pod))
            self._changed.notify()

    def _start_due(self) -> None:
        while True:
            with self._changed:
                while not self._starting or self._starting[0][0] > time.monotonic():
                    wait_s = self._starting[0][0] - time.monotonic() if self._starting else None
                    self._changed.wait(wait_s)
                _, number, pod = heapq.heappop(self._starting)
            self._pool.submit(self._start, pod, number)

    def _start(self, pod: Mapping[str, Any], number: int) -> None:
        address = f"10.{128 + (number >> 16) % 64}.{number >> 8 & 255}.{number & 255}"
        status = running_status(pod, address)
        self._client.patch(f"{_path(pod)}/status", {"status": status}, STRATEGIC_PATCH)

    def _end(self, pod: Mapping[str, Any]) -> None:
        self._client.delete(_path(pod), grace_s=0)


def _path(pod: Mapping[str, Any]) -> str:
    metadata = pod["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"


def _condition(kind: str) -> dict[str, str]:
    return {"type": kind, "status": "True", "lastTransitionTime": _now()}


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def main(arguments: Sequence[str]) -> None:
    """Be all the nodes until killed."""
    kubeconfig, nodes, start_s, *resources = arguments
    given = dict(each.split("=", 1) for each in resources)
    client = ApiClient.of(None, kubeconfig)
    FakeKubelet(client, int(nodes), float(start_s), given).run()


if __name__ == "__main__":
    enter(lambda: main(sys.argv[1:]))
