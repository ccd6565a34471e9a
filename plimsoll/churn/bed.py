"""The cluster of a session: brought up or found, how it is reached, and what it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from plimsoll.churn.api.removal import NAMESPACES
from plimsoll.churn.control_plane.control_plane import (
    ControlPlane,
    NodePlan,
    control_plane,
)
from plimsoll.churn.control_plane.programs import find_programs
from plimsoll.churn.driver.workload import OPTIONAL_KINDS, Workload
from plimsoll.churn.kpis.prometheus import PrometheusClient
from plimsoll.churn.kpis.sampler import APISERVER, ETCD, Targets
from plimsoll.churn.kpis.sources import ApiServerMetrics, MetricsSource, SocketMetrics
from plimsoll.churn.pod_streams.stream_pods import pods_path, streams_selector
from plimsoll.churn.settings import ChurnExperiment, GivenCluster, OwnCluster
from plimsoll.host.kubernetes.api_client import ApiClient
from plimsoll.host.ledger.ledger import Ledger

_REMOVAL = "plimsoll.churn.api.removal"


@dataclass(frozen=True)
class ClusterBed:
    """What cells are run on. `plane` is None of a cluster that is not ours."""

    client: ApiClient
    workload: Workload
    targets: Targets
    prometheus: PrometheusClient | None
    plane: ControlPlane | None
    version: str | None

    def check(self) -> None:
        """Raise MachineError where a part of our own control plane has died."""
        if self.plane is not None:
            self.plane.check()


def check_cluster(experiment: ChurnExperiment) -> None:
    """Raise MachineError and InputError for what is known to be missing before anything starts."""
    cluster = experiment.cluster
    if isinstance(cluster, OwnCluster):
        find_programs(_folder(cluster))
    elif cluster.prometheus is not None:
        PrometheusClient(cluster.prometheus).check()


@contextmanager
def cluster_bed(experiment: ChurnExperiment, ledger: Ledger, run: Path) -> Iterator[ClusterBed]:
    """The cluster for the length of a `with`.

    Our own keeps its store in the run's directory, on a disk, and it is gone in the end. What is
    made in another's is removed with the ledger, whatever ends the session. Raises MachineError.
    """
    cluster = experiment.cluster
    mark = ledger.id.rpartition("-")[2]
    if isinstance(cluster, OwnCluster):
        plan = NodePlan(cluster.nodes, float(cluster.pod_start), cluster.resources)
        folder = run.absolute() / "control-plane"
        with control_plane(find_programs(_folder(cluster)), folder, ledger, plan) as plane:
            yield _own(experiment, plane, mark)
        return
    workload = _workload(experiment, mark)
    kubeconfig = _kubeconfig(cluster)
    client = ApiClient.of(cluster.context, kubeconfig or None)
    reached_by = (cluster.context or "", kubeconfig)
    ledger.note_undoing_module(_REMOVAL, workload.selector, *reached_by, NAMESPACES)
    if experiment.streams is not None and (pods := experiment.streams.pods) is not None:
        selector, collection = streams_selector(mark), pods_path(pods.namespace)
        ledger.note_undoing_module(_REMOVAL, selector, *reached_by, collection)
    yield _given(experiment, cluster, client, mark)


def _own(experiment: ChurnExperiment, plane: ControlPlane, mark: str) -> ClusterBed:
    client = ApiClient.of(None, str(plane.kubeconfig))
    sources: dict[str, MetricsSource] = {
        APISERVER: ApiServerMetrics(client),
        ETCD: SocketMetrics(plane.etcd_socket),
    }
    targets = Targets(sources, plane.pids, machine=True)
    workload = _workload(experiment, mark)
    return ClusterBed(client, workload, targets, None, plane, _version(client))


def _given(
    experiment: ChurnExperiment, cluster: GivenCluster, client: ApiClient, mark: str
) -> ClusterBed:
    prometheus = None if cluster.prometheus is None else PrometheusClient(cluster.prometheus)
    targets = Targets({APISERVER: ApiServerMetrics(client)}, {}, machine=False)
    missing = frozenset(
        plural
        for version, plural in OPTIONAL_KINDS
        if not client.get(f"/apis/{version}/{plural}", {"limit": "1"}).ok
    )
    workload = _workload(experiment, mark, missing)
    return ClusterBed(client, workload, targets, prometheus, None, _version(client))


def _workload(
    experiment: ChurnExperiment, mark: str, missing: frozenset[str] = frozenset()
) -> Workload:
    settings = experiment.workload
    return Workload(mark, settings.objects, settings.image, settings.dpdk_requests, missing)


def _version(client: ApiClient) -> str | None:
    answer = client.get("/version")
    return str(answer.document.get("gitVersion")) if answer.ok else None


def _folder(cluster: OwnCluster) -> Path | None:
    return None if cluster.programs is None else Path(cluster.programs)


def _kubeconfig(cluster: GivenCluster) -> str:
    """As an absolute path, for who removes things later works elsewhere; "" for kubectl's own."""
    named = cluster.kubeconfig or os.environ.get("KUBECONFIG", "")
    return ":".join(str(Path(each).expanduser().absolute()) for each in named.split(":") if each)
