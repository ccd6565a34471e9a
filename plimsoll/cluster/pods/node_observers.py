"""The observers on the nodes of a run's DUTs: made, waited for, and what they are next to.

A pod without rights is put on each node, and the run's pod may start the observer in it by exec,
so that it needs no one here (docs/decisions/023).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.cluster.pods.cluster_client import ClusterClient
from plimsoll.cluster.pods.manifests import (
    OBSERVER_CONTAINER,
    ObservedNode,
    dut_name,
    observer_name,
    observer_pod,
    observers_access,
)
from plimsoll.cluster.pods.pod_plan import PodPlan
from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.host.kubernetes.cluster_errors import ClusterRefused, ClusterUnreachable
from plimsoll.host.kubernetes.exec_stream import StreamEnded
from plimsoll.host.kubernetes.pod_place import PodPlace
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.render.files.rendered_file import Manifest

_CONFLICT = 409
_STATUS = ("cat", "/proc/1/status")
_ALLOWED = b"Cpus_allowed_list:"
_ANSWER_S = 10.0


class NodeObservers:
    """Those of one run, whose objects all have `name` in theirs."""

    def __init__(self, client: ClusterClient, name: str, plan: PodPlan) -> None:
        self._client = client
        self._name = name
        self._plan = plan

    def make(self, run_id: str, owner: Mapping[str, Any]) -> None:
        """Those that are missing. Raises ClusterRefused and ClusterUnreachable."""
        for manifest in observers_access(self._name, run_id, self._plan, owner):
            create_if_missing(self._client, manifest)
        for pod in self._plan.duts:
            manifest = observer_pod(self._name, run_id, self._plan, pod, owner)
            create_if_missing(self._client, manifest)

    def nodes(self) -> tuple[ObservedNode, ...]:
        """Each node once, with the CPUs of all DUTs on it, once all pods have started.

        Raises ClusterRefused and ClusterUnreachable.
        """
        nodes: dict[str, ObservedNode] = {}
        for pod in self._plan.duts:
            name, observer = dut_name(self._name, pod), observer_name(self._name, pod)
            found = self._client.read("Pod", name) or {}
            node = str(found.get("spec", {}).get("nodeName", ""))
            place = PodPlace(None, self._client.namespace, observer, OBSERVER_CONTAINER)
            known = nodes.get(node, ObservedNode(node, str(place), ()))
            cpus = {*known.cpus, *_own_cpus(self._client, name, pod)}
            nodes[node] = ObservedNode(node, known.pod, tuple(sorted(cpus)))
        return tuple(nodes.values())


def create_if_missing(client: ClusterClient, manifest: Manifest) -> None:
    """One that is there already stays. Raises ClusterRefused and ClusterUnreachable."""
    try:
        client.create(manifest)
    except ClusterRefused as error:
        if error.status != _CONFLICT:
            raise


def _own_cpus(client: ClusterClient, name: str, pod: Pod) -> tuple[int, ...]:
    """The CPUs that the kubelet gave to it alone; none where it shares, or cannot say."""
    try:
        allowed = next(_allowed_cpus(client, name, pod.name), ())
    except (ClusterRefused, ClusterUnreachable, StreamEnded, InputError):
        return ()
    return allowed if len(allowed) == pod.cpus else ()


def _allowed_cpus(client: ClusterClient, name: str, container: str) -> Iterator[tuple[int, ...]]:
    stream = client.run_in(name, container, _STATUS)
    deadline = time.monotonic() + _ANSWER_S
    try:
        while True:
            line = stream.read_line(deadline - time.monotonic())
            if line.startswith(_ALLOWED):
                yield parse_cpu_list(line.removeprefix(_ALLOWED).decode().strip())
    finally:
        stream.close()
